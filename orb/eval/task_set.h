// The tasks of a scenario: those that it lists, and then those that are drawn. The same scenario, seed and set give the
// same tasks on every machine.
//
// Threads: pure functions. Allocates.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "orb/base/contract.h"
#include "orb/base/expected.h"
#include "orb/eval/arrival.h"
#include "orb/eval/scenario.h"

namespace corelane::eval {

// A task that asks for admission.
struct Task {
  std::string label;
  Contract contract{};
  Duration offset{};  // of its first release, from the start
  Arrival arrival{};
  Execution execution{};
};

// Returns the tasks in the order in which they ask for admission. `set`: from 0 to scenario.repetitions - 1. The fault:
// the generator found no set within its limits.
Expected<std::vector<Task>, ScenarioFault> tasks_of(const Scenario& scenario, std::int64_t set = 0);

}  // namespace corelane::eval
