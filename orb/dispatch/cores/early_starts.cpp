#include "orb/dispatch/cores/early_starts.h"

#include <algorithm>

#include "orb/base/contract.h"
#include "orb/sched/share.h"

namespace corelane::dispatch {
namespace {

bool can_start_early(const sched::ScheduledTask& task, Time now) noexcept {
  return task.can_start() && task.waiting[0].eligible > now;
}

}  // namespace

std::optional<Time> EarlyStarts::pay(Tasks tasks, Time now) noexcept {
  constexpr sched::Ppm least = sched::whole_core / 1000;
  if (now < from_) return from_;
  const sched::Ppm left = unpromised(tasks);
  if (left < least) return never;
  from_ = now + std::min<Duration>(early_work(tasks, now), longest_period) * sched::whole_core / left;
  for (const sched::ScheduledTask& task : tasks)
    if (can_start_early(task, now)) ++count_;
  return std::nullopt;
}

// Returns the sum of the budgets of the early jobs that could start.
Duration EarlyStarts::early_work(Tasks tasks, Time now) noexcept {
  Duration sum{};
  for (const sched::ScheduledTask& task : tasks)
    if (can_start_early(task, now)) sum += task.contract.budget;
  return sum;
}

// Returns the part of the core's share that its tasks do not use.
sched::Ppm EarlyStarts::unpromised(Tasks tasks) const noexcept {
  sched::Ppm left = share_;
  for (const sched::ScheduledTask& task : tasks)
    left -= sched::ppm_of(sched::share_of(task.contract.budget.count(), task.contract.period.count()));
  return left;
}

}  // namespace corelane::dispatch
