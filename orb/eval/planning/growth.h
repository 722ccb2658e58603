// Computes how much budgets may grow until something fails that holds now: a server refuses a task, a chain is late, or
// a task of high criticality is late after an overrun. Bisection finds the values. The whole set is planned with each
// value that is returned. A value between two that hold may fail, because a task that has grown may be placed on
// another core.
//
// Threads: pure functions. Allocates.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "orb/base/ids.h"
#include "orb/base/time.h"
#include "orb/eval/plan.h"
#include "orb/eval/task_set.h"

namespace corelane::eval {

// A set of tasks, and what has to hold for it.
struct AnsweredSet {
  const PlanRequest& request;  // without overheads that are charged
  std::vector<CoreId> cores;
  std::vector<bool> admitted;  // by task: it has to be admitted
  std::vector<bool> high{};    // by task: it has to be in time after an overrun, too
  std::vector<bool> chains{};  // by chain of the request: it has to be in time
  Duration per_job{};          // what of each budget are overheads, which do not grow
};

// Returns whether all of that still holds if the tasks of the set have the contracts in `tasks`.
bool holds_again(const AnsweredSet& set, const std::vector<Task>& tasks);

// Returns the largest budget of an admitted task, overheads included, with four digits. It is the present one if no
// larger one was found. budget_high is at least the budget.
Duration largest_budget(const AnsweredSet& set, std::size_t task);

// Returns the largest factor for the budgets of all admitted tasks, also for budget_high, in thousandths and at least
// 1000. Nothing if no task is admitted.
std::optional<int> largest_growth(const AnsweredSet& set);

}  // namespace corelane::eval
