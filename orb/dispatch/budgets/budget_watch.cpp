#include "orb/dispatch/budgets/budget_watch.h"

#include "orb/dispatch/budgets/blocking_detector.h"

namespace corelane::dispatch {

bool BudgetWatch::has_waited(const Found& found, Time now) noexcept {
  if (found.left >= BlockingDetector::shortest) return found.asleep;
  if (unused_.job != found.job || unused_.left != found.left)
    unused_ = {.job = found.job, .left = found.left, .since = now};
  return found.asleep && now - unused_.since >= BlockingDetector::shortest;
}

bool BudgetWatch::may_wait(const Found& found, const Unused& before) noexcept {
  return found.left >= BlockingDetector::shortest || (before.job == found.job && before.left == found.left);
}

void BudgetWatch::find_returns(std::span<const sched::ScheduledTask> tasks) noexcept {
  const Time before = std::exchange(return_at_, never);
  may_return_ = false;
  for (const sched::ScheduledTask& task : tasks) {
    if (!task.postponed()) continue;
    may_return_ = true;
    if (!task.suspended) return_at_ = std::min(return_at_, task.next_place());
  }
  if (return_at_ != before) set_alarm();
}

}  // namespace corelane::dispatch
