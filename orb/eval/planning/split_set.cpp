#include "orb/eval/planning/split_set.h"

#include <cstdint>

#include "orb/sched/share.h"

namespace corelane::eval {

SplitSet::SplitSet(std::span<const CoreId> cores) : cores_(cores.begin(), cores.end()), placement_(cores.size()) {}

bool SplitSet::admits(const Task& task) {
  const auto sporadic = sporadic_task_of(task.contract);
  return sporadic && placement_.place(*sporadic);
}

void SplitSet::clear() { placement_.clear(); }

void SplitSet::describe(std::size_t number, TaskVerdict& verdict) const {
  const auto parts = placement_.parts(number);
  verdict.bound = Duration{placement_.response(number)} + verdict.task.contract.jitter;
  verdict.core = cores_[parts.front().core];
  if (parts.size() == 1) return;
  for (const sched::SplitPart& part : parts)
    verdict.parts.push_back({.core = cores_[part.core],
                             .budget = Duration{part.part.budget},
                             .offset = Duration{part.offset},
                             .deadline = Duration{part.part.deadline}});
}

std::vector<sched::CoreView> SplitSet::cores() const {
  std::vector<sched::CoreView> views;
  for (std::size_t i = 0; i < cores_.size(); ++i) {
    const auto tasks = placement_.tasks_on(i);
    sched::Share load = 0;
    for (const sched::EdfTask& task : tasks) load += sched::share_of(task.budget, task.period);
    views.push_back({.id = cores_[i],
                     .capacity = sched::whole_core,
                     .admitted = sched::ppm_of(load),
                     .tasks = static_cast<std::uint32_t>(tasks.size()),
                     .order = sched::CoreOrder::deadline});
  }
  return views;
}

}  // namespace corelane::eval
