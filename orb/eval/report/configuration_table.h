// A table that says how near several configurations come to published figures. The last sweeps of the scenario span the
// published table; the other sweeps are the configurations that were tried.
// Threads: pure functions. They allocate.
#pragma once

#include <optional>
#include <vector>

#include "orb/eval/report/table.h"
#include "orb/eval/scenario.h"
#include "orb/eval/statistics/comparison.h"

namespace corelane::eval {

// Returns nothing if the published figures have a value for each cell, so that there is only one configuration. All
// dispatchers have the same number of published values, and it divides the number of cells.
std::optional<Table> configuration_table(const ExperimentSummary& summary, const std::vector<Published>& published);

}  // namespace corelane::eval
