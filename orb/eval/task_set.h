// The tasks of a scenario: those that it lists, and then those that are drawn, in the order of its policy. The same
// scenario, seed and set give the same tasks on every machine.
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
  bool is_high = false;       // whether it has high criticality
  Duration budget_high{};     // of a task of high criticality: what a job never exceeds
  std::int64_t requests = 1;  // how often a job locks each resource of the contract at most
};

// Returns the tasks in the order in which they ask for admission. `set`: from 0 to scenario.repetitions - 1. The fault:
// the generator found no set within its limits.
Expected<std::vector<Task>, ScenarioFault> tasks_of(const Scenario& scenario, std::int64_t set = 0);

// Returns the scenario with the tasks of one set listed, each with a count of 1, and without a generator. The fault is
// that of tasks_of().
Expected<Scenario, ScenarioFault> as_listed(const Scenario& scenario, std::int64_t set = 0);

}  // namespace corelane::eval
