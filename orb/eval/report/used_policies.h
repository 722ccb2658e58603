// The policies with which an experiment was made.
// Threads: pure functions. They allocate.
#pragma once

#include <span>
#include <string>

#include "orb/eval/dispatchers.h"
#include "orb/eval/report/table.h"
#include "orb/eval/run_requests.h"
#include "orb/eval/scenario.h"
#include "orb/eval/statistics/comparison.h"

namespace corelane::eval {

// Returns a table with a row for each dispatcher: how it places tasks, by which test it admits them, and in which order
// they ask. `scenarios` are those of all combinations. If they differ, a cell has all their values.
Table used_policies_table(std::span<const Scenario> scenarios, std::span<const Dispatcher* const> dispatchers,
                          const RunDefaults& defaults);

// Returns the swept policies of a combination, such as "allocation = first-fit"; "" if none is swept.
std::string swept_policies(const SweptValues& swept);

// Returns "any allocation and test" for a combination that sweeps these policies.
std::string any_policies(const SweptValues& swept);

// Returns the name of a dispatcher, with the swept policies behind it.
std::string with_policies(const std::string& dispatcher, const std::string& policies);

}  // namespace corelane::eval
