// The part of CorePool that checks how much of its budget the running job has used, and whether it sleeps.
#include <algorithm>
#include <mutex>
#include <utility>

#include "orb/dispatch/cores/core_pool.h"
#include "orb/dispatch/cores/deferred_wakeups.h"
#include "orb/dispatch/cores/task_worker.h"

namespace corelane::dispatch {
namespace {

constexpr Duration shortest_look = std::chrono::microseconds{20};  // least time between two checks of a job

}  // namespace

void CorePool::watch_budgets(BudgetAlarm* alarm) noexcept {
  const std::lock_guard lock(mutex_);
  alarm_ = alarm;
}

// Reads the thread's execution time and state before taking the lock. Reading them takes long, and a thread that waits
// for this very lock would look asleep. The result counts only if the same job is still watched.
void CorePool::check_budget(Time now) noexcept {
  const Looked looked = look_at_watched(now);
  DeferredWakeups wakeups;
  const std::lock_guard lock(mutex_);
  if (!alarm_) return;
  if (return_at_ <= now) let_return(now, wakeups);
  if (!looked.worker || watched_.job != looked.job || watched_.budget != looked.budget) return;
  if (looked.left > Duration::zero() && !has_waited(looked, now)) return look_again(looked, now);  // it was preempted
  // Act before the kernel throttles the thread, which could happen while the thread holds one of our locks.
  const bool enforced = looked.worker->contract_.on_overrun != OverrunPolicy::report;
  if (order_ == sched::CoreOrder::served && !enforced) {
    looked.worker->step_back();
    wakeups.settle(looked.worker);
  }
  unused_ = {};  // a wait is reported once
  const sched::Overran fact{.at = now, .job = watched_.job, .task = watched_.task, .used = looked.budget - looked.left};
  carry_out(scheduler_.decide(fact), wakeups);
}

// Sets the time of the next check. The check itself preempts the job and may take longer than the rest of its budget.
// So the job gets more time than the check took; otherwise it would never end.
void CorePool::look_again(const Looked& looked, Time began) noexcept {
  const Time now = looked.worker->clock_.now();
  const Duration pause = std::min(2 * (now - began), BlockingDetector::shortest);
  look_at_ = now + std::max({looked.left, shortest_look, pause});
  set_alarm();
}

// Gives jobs that are due their levels back. Sets the alarm again in any case, because its time has passed.
void CorePool::let_return(Time now, DeferredWakeups& wakeups) noexcept {
  carry_out(scheduler_.decide(elapsed(now)), wakeups);
  set_alarm();
}

// Finds when the next demoted job gets its level back. Bound: the core's tasks; returns at once if no job waits for
// that.
void CorePool::note_returns() noexcept {
  if (!may_return_) return;
  const Time before = std::exchange(return_at_, never);
  may_return_ = false;
  for (const sched::ScheduledTask& task : scheduler_.tasks()) {
    if (!task.postponed()) continue;
    may_return_ = true;
    if (!task.suspended) return_at_ = std::min(return_at_, task.next_place());
  }
  if (return_at_ != before) set_alarm();
}

void CorePool::set_alarm() noexcept {
  if (alarm_) alarm_->set(std::min(look_at_, return_at_));
}

// Reads the state of the watched job's thread. That job runs before all others here, so only the platform keeps it from
// running, and not for long.
CorePool::Looked CorePool::look_at_watched(Time now) const noexcept {
  Looked looked;
  bool may_sleep = true;
  Unused before;
  {
    const std::lock_guard lock(mutex_);
    before = unused_;
    const WorkerPtr* worker = watched_.job == JobId{} ? nullptr : worker_of(watched_.task);
    if (!worker || look_at_ > now) return looked;
    looked.worker = *worker;
    looked.job = watched_.job;
    looked.budget = watched_.budget;
    may_sleep = !(*worker)->running_ || (*worker)->contract_.suspension > Duration::zero();  // or still being woken
  }
  looked.left = looked.budget - looked.worker->used_by_job();
  const bool stands =
      looked.left >= BlockingDetector::shortest || (before.job == looked.job && before.left == looked.left);
  looked.asleep = !may_sleep && looked.left > Duration::zero() && stands && looked.worker->is_asleep();
  return looked;
}

// Returns whether the job has slept for at least BlockingDetector::shortest. If more budget than that is left, the
// alarm fired after a time in which the job should have used it, so one check is enough. With less budget left, the job
// is checked until it has used nothing for that long.
bool CorePool::has_waited(const Looked& looked, Time now) noexcept {
  if (looked.left >= BlockingDetector::shortest) return looked.asleep;
  if (unused_.job != looked.job || unused_.left != looked.left)
    unused_ = {.job = looked.job, .left = looked.left, .since = now};
  return looked.asleep && now - unused_.since >= BlockingDetector::shortest;
}

// Sets the alarm for the watched job. A running job may have used part of its budget before a preemption or sleep, so
// its CPU clock is read. Only then is a clock read under the lock.
void CorePool::watch(const sched::Watch& watched) noexcept {
  watched_ = watched;
  look_at_ = never;
  if (!alarm_) return;
  if (const WorkerPtr* found = watched.job == JobId{} ? nullptr : worker_of(watched.task)) {
    const TaskWorker& worker = **found;
    const Duration used = worker.running_ ? worker.used_by_job() : Duration::zero();
    look_at_ = worker.clock_.now() + std::max(watched.budget - used, shortest_look);
  }
  set_alarm();
}

}  // namespace corelane::dispatch
