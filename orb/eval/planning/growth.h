// How much budgets may grow until a server refuses a task that it admits now. Every value that is returned was tried:
// the whole set was admitted with it. Larger values are found by bisection. Between two of them, some may be refused,
// because a task that has grown may be placed on another core.
//
// Threads: pure functions. Allocates.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "orb/base/ids.h"
#include "orb/base/time.h"
#include "orb/dispatch/executive.h"
#include "orb/eval/task_set.h"

namespace corelane::eval {

// A set of tasks for which the answers are known.
struct AnsweredSet {
  const dispatch::ExecutiveOptions& server;
  std::vector<CoreId> cores;
  const std::vector<Task>& tasks;
  std::vector<bool> admitted;  // by task
  bool spin_locks = false;     // see PlanRequest
};

// Returns whether all tasks are admitted again when their contracts are those of `tasks`.
bool admits_again(const AnsweredSet& set, const std::vector<Task>& tasks);

// Returns the largest budget of an admitted task, with four digits. It is the present one if no larger one was found.
Duration largest_budget(const AnsweredSet& set, std::size_t task);

// Returns the largest factor for the budgets of all admitted tasks, in thousandths and at least 1000. Nothing if no
// task is admitted.
std::optional<int> largest_growth(const AnsweredSet& set);

}  // namespace corelane::eval
