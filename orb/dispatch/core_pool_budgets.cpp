// CorePool's looks at what the job that runs has used of its budget, and whether it sleeps instead.
#include <algorithm>
#include <mutex>
#include <utility>

#include "orb/dispatch/after_lock.h"
#include "orb/dispatch/core_pool.h"
#include "orb/dispatch/task_worker.h"

namespace corelane::dispatch {
namespace {

constexpr Duration shortest_look = std::chrono::microseconds{20};  // between two looks at what a job has used

}  // namespace

void CorePool::watch_budgets(BudgetAlarm* alarm) noexcept {
  const std::lock_guard lock(mutex_);
  alarm_ = alarm;
}

// What the system says of the thread is read without the lock, for which the job's thread may be waiting: that takes
// long, and is not what is asked about. It stands if the job is still the one that is watched.
void CorePool::check_budget(Time now) noexcept {
  const Looked looked = look_at_watched(now);
  AfterLock after;
  const std::lock_guard lock(mutex_);
  if (!alarm_) return;
  if (return_at_ <= now) let_return(now, after);
  if (!looked.worker || watched_.job != looked.job || watched_.budget != looked.budget) return;
  if (looked.left > Duration::zero() && !has_waited(looked, now)) return look_again(looked, now);  // it was preempted
  // Before the kernel finds it out, which would keep the thread from running wherever it is, in a lock of ours, too.
  const bool enforced = looked.worker->contract_.on_overrun != OverrunPolicy::report;
  if (order_ == sched::CoreOrder::served && !enforced) {
    looked.worker->step_back();
    after.settle(looked.worker);
  }
  unused_ = {};  // so long a wait is told of once
  const sched::Overran fact{.at = now, .job = watched_.job, .task = watched_.task, .used = looked.budget - looked.left};
  carry_out(lane_.decide(fact), after);
}

// The look itself keeps the job from its core, and may take longer than what is left: the job gets more than that each
// time, or it would never end.
void CorePool::look_again(const Looked& looked, Time began) noexcept {
  const Time now = looked.worker->clock_.now();
  const Duration pause = std::min(2 * (now - began), BlockWatch::shortest);
  look_at_ = now + std::max({looked.left, shortest_look, pause});
  set_alarm();
}

// What is due by now has been told, so the alarm is set anew in any case.
void CorePool::let_return(Time now, AfterLock& after) noexcept {
  carry_out(lane_.decide(elapsed(now)), after);
  set_alarm();
}

// Bound: the core's tasks; and nothing where no job waits for its level.
void CorePool::note_returns() noexcept {
  if (!may_return_) return;
  const Time before = std::exchange(return_at_, never);
  may_return_ = false;
  for (const sched::LaneTask& task : lane_.tasks()) {
    if (!task.postponed()) continue;
    may_return_ = true;
    if (!task.suspended) return_at_ = std::min(return_at_, task.next_place());
  }
  if (return_at_ != before) set_alarm();
}

void CorePool::set_alarm() noexcept {
  if (alarm_) alarm_->set(std::min(look_at_, return_at_));
}

// The job that is watched runs before all others here, so only the platform keeps it from running, and that not for
// long.
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
    may_sleep = !(*worker)->running_ || (*worker)->contract_.suspension > Duration::zero();  // or it is being woken
  }
  looked.left = looked.budget - looked.worker->used_by_job();
  const bool stands = looked.left >= BlockWatch::shortest || (before.job == looked.job && before.left == looked.left);
  looked.asleep = !may_sleep && looked.left > Duration::zero() && stands && looked.worker->is_asleep();
  return looked;
}

// For as long as counts as a wait: what it has left it should have used by now. Where that is less than so long, it is
// looked at until it has used nothing for so long.
bool CorePool::has_waited(const Looked& looked, Time now) noexcept {
  if (looked.left >= BlockWatch::shortest) return looked.asleep;
  if (unused_.job != looked.job || unused_.left != looked.left)
    unused_ = {.job = looked.job, .left = looked.left, .since = now};
  return looked.asleep && now - unused_.since >= BlockWatch::shortest;
}

// One that goes on after it was preempted, or has slept, has used some of it before. Under the lock: one clock is read,
// and only then.
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
