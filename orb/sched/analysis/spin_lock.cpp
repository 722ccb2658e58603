#include "orb/sched/analysis/spin_lock.h"

#include <algorithm>
#include <map>

namespace corelane::sched {

Ticks spin_time(std::span<const SpinningTask> tasks, int core, ResourceId resource) {
  std::map<int, Ticks> longest;  // by core, for the other cores
  for (const SpinningTask& task : tasks) {
    if (task.core == core) continue;
    for (const SpinRequest& request : task.requests)
      if (request.resource == resource) longest[task.core] = std::max(longest[task.core], request.longest);
  }
  Ticks sum = 0;
  for (const auto& [other, section] : longest) sum = add_up(sum, section);
  return sum;
}

Ticks spinning_budget(std::span<const SpinningTask> tasks, const SpinningTask& task) {
  Ticks budget = task.budget;
  for (const SpinRequest& request : task.requests)
    budget = add_up(budget, multiply_up(spin_time(tasks, task.core, request.resource), request.per_job));
  return budget;
}

std::vector<Response> spin_responses(std::span<const SpinningTask> tasks, const Limits& limits) {
  std::vector<Ticks> budgets;   // C', spinning included
  std::vector<Ticks> blocking;  // the longest spin plus section of a task
  for (const SpinningTask& task : tasks) {
    budgets.push_back(spinning_budget(tasks, task));
    blocking.push_back(0);
    for (const SpinRequest& request : task.requests)
      blocking.back() =
          std::max(blocking.back(), add_up(spin_time(tasks, task.core, request.resource), request.longest));
  }
  std::vector<Response> responses;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    std::vector<Interference> above;
    Ticks longest = 0;
    for (std::size_t j = 0; j < tasks.size(); ++j) {
      if (tasks[j].core != tasks[i].core) continue;
      if (j < i) above.push_back({budgets[j], tasks[j].period, tasks[j].jitter});
      if (j > i) longest = std::max(longest, blocking[j]);
    }
    responses.push_back(response_time({.budget = budgets[i],
                                       .period = tasks[i].period,
                                       .jitter = tasks[i].jitter,
                                       .blocking = add_up(longest, tasks[i].blocking)},
                                      above, limits));
  }
  return responses;
}

}  // namespace corelane::sched
