// The tasks of a scenario: those that it lists, and then those that are drawn. Then policy.order sorts all of them. The
// same scenario, seed and set give the same tasks on every machine.
//
// Threads: pure functions. Allocates.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "orb/base/contract.h"
#include "orb/base/expected.h"
#include "orb/eval/scenario.h"

namespace corelane::eval {

// When the jobs of a task come in an experiment. They keep to the contract, because two of them are never closer than
// the period. Admission knows the contract only.
enum class ArrivalKind : std::uint8_t {
  periodic,  // exactly T apart
  sporadic,  // T and a random gap apart
  bursty,    // several jobs T apart, then a random gap, and so on
};
inline constexpr std::array<std::string_view, 3> arrival_names{"periodic", "sporadic", "bursty"};

struct Arrival {
  ArrivalKind kind = ArrivalKind::periodic;
  Duration gap{};          // a gap is uniform from 0 to this; not for periodic
  std::int64_t burst = 1;  // so many jobs before each gap, for bursty; at least 1
};

// How long the jobs execute: uniform between two parts of the budget, both included.
struct Execution {
  Fraction least = unity, most = unity;  // 0 < least <= most; above 1, jobs exceed their budget
  std::vector<Duration> trace{};         // instead, if not empty: the jobs in turn, and then from the beginning again
};

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
  Duration overheads{};       // what charge() has added to the budgets
};

// Returns the tasks in the order in which they ask for admission. `set`: from 0 to scenario.repetitions - 1. The fault:
// the generator found no set within its limits.
Expected<std::vector<Task>, ScenarioFault> tasks_of(const Scenario& scenario, std::int64_t set = 0);

// Returns the scenario with the tasks of one set listed, each with a count of 1, and without a generator. The fault is
// that of tasks_of().
Expected<Scenario, ScenarioFault> as_listed(const Scenario& scenario, std::int64_t set = 0);

}  // namespace corelane::eval
