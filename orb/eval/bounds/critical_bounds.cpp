#include "orb/eval/bounds/critical_bounds.h"

#include <algorithm>
#include <vector>

#include "orb/eval/bounds/placed_tasks.h"
#include "orb/sched/analysis/mixed_criticality.h"

namespace corelane::eval {
namespace {

using sched::CriticalTask;
using sched::Ticks;

// A suspension counts as execution. The test knows deadlines up to the period only, so a longer one is cut.
CriticalTask critical_task(const PlacedTask& placed, const Task& task) {
  const Contract& contract = task.contract;
  const Ticks beyond = placed.suspension + placed.overshoot;
  CriticalTask critical{.budget = placed.budget + beyond,
                        .period = contract.period.count(),
                        .deadline = std::min(contract.deadline, contract.period).count(),
                        .jitter = placed.jitter,
                        .blocking = placed.blocking};
  if (task.is_high) critical.high = critical.budget + (task.budget_high - contract.budget).count();
  return critical;
}

// Returns the loads of the task's core, the other tasks there that are at least as urgent, and at the end the task.
std::vector<CriticalTask> with_all_above(const PlacedSet& set, const Plan& plan, const PlacedTask& task) {
  std::vector<CriticalTask> tasks;
  for (const sched::Interference& load : set.loads.at(task.core))
    tasks.push_back({.budget = load.budget,
                     .high = load.budget,
                     .period = load.period,
                     .deadline = load.period,
                     .jitter = load.jitter});
  for (const PlacedTask& other : set.tasks)
    if (other.core == task.core && other.priority >= task.priority && other.task != task.task)
      tasks.push_back(critical_task(other, plan.tasks[other.task].task));
  tasks.push_back(critical_task(task, plan.tasks[task.task].task));
  return tasks;
}

HighMode high_mode(const PlacedSet& set, const Plan& plan, const PlacedTask& task) {
  const auto response = sched::amc_responses(with_all_above(set, plan, task)).back().high;
  if (!response || response->verdict != sched::Response::Verdict::exact) return {};
  return {.holds = true, .bound = Duration{response->value}};
}

}  // namespace

void bound_high_modes(const PlanRequest& request, Plan& plan) {
  if (std::ranges::none_of(plan.tasks, [](const TaskVerdict& verdict) { return verdict.task.is_high; })) return;
  for (TaskVerdict& verdict : plan.tasks)
    if (verdict.task.is_high) verdict.high.emplace();
  if (!has_priorities(plan)) return;
  const PlacedSet set = placed_set(request, plan);
  for (const PlacedTask& placed : set.tasks)
    if (plan.tasks[placed.task].high) plan.tasks[placed.task].high = high_mode(set, plan, placed);
}

}  // namespace corelane::eval
