// Reads a scenario from the nodes of a file.
// Threads: pure functions. Allocates.
#pragma once

#include <string>
#include <vector>

#include "orb/base/expected.h"
#include "orb/eval/scenario.h"
#include "orb/eval/scenario/node.h"
#include "orb/eval/scenario/sweep.h"

namespace corelane::eval {

// Returns the scenario of a file's table, without its sweeps. `path` is for the faults. `slowdowns`: those of the file,
// see core::parse_slowdowns().
Expected<Scenario, ScenarioFault> read_scenario(const Node& root, const std::string& path,
                                                std::vector<PairSlowdown> slowdowns);

// A sweep with its values.
struct SweptField {
  std::string field;
  std::vector<Node> values;
};

// Returns the sweeps of a file's table, in their order.
Expected<std::vector<SweptField>, ScenarioFault> read_sweeps(const Node& root, const std::string& path);

}  // namespace corelane::eval
