#include "orb/dispatch/cores/core_pool.h"

#include <optional>
#include <utility>

#include "orb/dispatch/cores/deferred_wakeups.h"
#include "orb/dispatch/cores/task_worker.h"
#include "orb/os/lock.h"

namespace corelane::dispatch {

// A job may be moved while it runs, so the pool is checked again under its lock. Bound: the number of lost cores.
template <typename Use>
auto CorePool::at_home(const TaskWorker& worker, Use use) noexcept {
  for (;;) {
    // PAIR worker.pool: acquire here <- release in CorePool::hand_over().
    CorePool& pool = *worker.pool_.load(std::memory_order_acquire);
    const os::LockGuard lock(pool.mutex_);
    if (worker.pool_.load(std::memory_order_relaxed) == &pool)  // relaxed: changes under this lock
      return use(pool.jobs_);
  }
}

CorePool::CorePool(CoreId core, std::size_t max_tasks, NoteInbox& inbox, RecorderRing* ring, Duration overshoot)
    : core_(core), jobs_(core, max_tasks, inbox, ring, overshoot) {}

// This function and the next two run before the first task, so no other thread uses the pool, and they take no lock.
void CorePool::use_deadlines(sched::NativeRange natives) CORELANE_NO_THREAD_SAFETY_ANALYSIS {
  jobs_.use_deadlines(natives);
  order_ = sched::CoreOrder::deadline;
}

void CorePool::use_servers() CORELANE_NO_THREAD_SAFETY_ANALYSIS {
  jobs_.scheduler().use_deadlines();
  order_ = sched::CoreOrder::served;
}

void CorePool::charge_overruns() CORELANE_NO_THREAD_SAFETY_ANALYSIS { jobs_.scheduler().charge_overruns(); }

bool CorePool::add(const WorkerPtr& worker, Priority priority) noexcept {
  const os::LockGuard lock(mutex_);
  return jobs_.add(worker, priority);
}

void CorePool::join(const WorkerPtr& worker, Priority priority, Time now) noexcept {
  DeferredWakeups wakeups;
  const os::LockGuard lock(mutex_);
  jobs_.join(worker, priority, now, wakeups);
}

void CorePool::reprioritize(TaskId task, Priority priority) noexcept {
  const os::LockGuard lock(mutex_);
  jobs_.scheduler().reprioritize(task, priority);
}

CorePool::Refused CorePool::arrive(TaskWorker& worker, JobPtr job, JobId id, Time at) noexcept {
  DeferredWakeups wakeups;
  const os::LockGuard lock(mutex_);
  return jobs_.accept(worker, std::move(job), id, at, wakeups);
}

CorePool::Own CorePool::arrive_own(TaskWorker& worker, JobPtr& job, Time at, Time now, Assignment& next,
                                   sched::Refusal& reason) noexcept {
  DeferredWakeups wakeups(&worker);
  const os::LockGuard lock(mutex_);
  return jobs_.arrive_own(worker, job, at, now, next, reason, wakeups);
}

void CorePool::vacate(TaskId task, Time now) noexcept {
  DeferredWakeups wakeups;
  const os::LockGuard lock(mutex_);
  jobs_.vacate(task, now, wakeups);
}

JobList CorePool::dismiss(TaskWorker& worker, Time now) noexcept {
  DeferredWakeups wakeups;
  const os::LockGuard lock(mutex_);
  return jobs_.dismiss(worker, now, wakeups);
}

// Locks the pool of the lower core first, so that no two threads lock two pools in different orders. No analysis: clang
// cannot see that both pools are locked, in either order, or are the same.
void CorePool::move(const WorkerPtr& worker, CorePool& to, Priority priority,
                    Time now) noexcept CORELANE_NO_THREAD_SAFETY_ANALYSIS {
  DeferredWakeups wakeups;
  CorePool& first = to.core_ < core_ ? to : *this;
  const os::LockGuard lock(first.mutex_);
  std::optional<os::LockGuard<os::PiMutex>> other;
  if (&to != this) other.emplace((&first == this ? to : *this).mutex_);
  hand_over(worker, to, priority, now, wakeups);
}

void CorePool::hand_over(const WorkerPtr& worker, CorePool& to, Priority priority, Time now,
                         DeferredWakeups& wakeups) noexcept {
  sched::ScheduledTask task = jobs_.give_away(*worker, now, wakeups);
  task.priority = priority;
  // PAIR worker.pool: release here -> acquire in TaskWorker::step() and at_home().
  worker->pool_.store(&to, std::memory_order_release);
  to.jobs_.receive(worker, task, now, wakeups);
}

void CorePool::strand() noexcept {
  DeferredWakeups wakeups;
  const os::LockGuard lock(mutex_);
  jobs_.strand(wakeups);
}

bool CorePool::reopen() noexcept {
  const os::LockGuard lock(mutex_);
  return jobs_.reopen();
}

std::uint64_t CorePool::early_jobs(TaskId task) const noexcept {
  const os::LockGuard lock(mutex_);
  return jobs_.early_jobs(task);
}

std::uint64_t CorePool::timer_releases() const noexcept {
  const os::LockGuard lock(mutex_);
  return jobs_.timer_releases();
}

Time CorePool::take(TaskWorker& worker, Time now, Assignment& next) noexcept {
  DeferredWakeups wakeups(&worker);
  const os::LockGuard lock(mutex_);
  return jobs_.take(worker, now, next, wakeups);
}

// A demoted thread gets its level back before the CoreScheduler learns of the job's end. The waiting jobs of its task
// are spaced from that time on, and below all tasks much time may pass after the clock was read. Bound: a job is
// demoted at most once in each period of its task.
Time CorePool::finish(TaskWorker& worker, const Ended& ended) noexcept {
  for (;;) {
    DeferredWakeups wakeups(&worker);
    const auto again = at_home(worker, [&](CoreJobs& jobs) -> std::optional<Time> {
      if (worker.placer_.is_served()) return jobs.end(worker, ended, wakeups);
      worker.placer_.restore();
      wakeups.settle_self();
      return std::nullopt;
    });
    if (again) return *again;
  }
}

void CorePool::suspend(TaskWorker& worker, JobId job, Time at) noexcept {
  DeferredWakeups wakeups(&worker);
  at_home(worker,
          [&](CoreJobs& jobs) { jobs.tell(sched::Suspended{.at = at, .job = job, .task = worker.task()}, wakeups); });
}

void CorePool::resume(TaskWorker& worker, JobId job, Time at) noexcept {
  DeferredWakeups wakeups(&worker);
  at_home(worker,
          [&](CoreJobs& jobs) { jobs.tell(sched::Resumed{.at = at, .job = job, .task = worker.task()}, wakeups); });
}

bool CorePool::has_jobs(const TaskWorker& worker) noexcept {
  return at_home(worker, [&](const CoreJobs&) { return worker.jobs_.any(); });
}

std::size_t CorePool::waiting_jobs(const TaskWorker& worker) noexcept {
  return at_home(worker, [&](const CoreJobs&) { return worker.jobs_.waiting(); });
}

void CorePool::watch_budgets(BudgetAlarm* alarm) noexcept {
  const os::LockGuard lock(mutex_);
  jobs_.watch_budgets(alarm);
}

// Reads the thread's execution time and state before taking the lock. Reading them takes long, and a thread that waits
// for this very lock would look asleep. The result counts only if the same job is still watched.
void CorePool::check_budget(Time now) noexcept {
  const CoreJobs::Looked looked = look_at_watched(now);
  DeferredWakeups wakeups;
  const os::LockGuard lock(mutex_);
  jobs_.check_budget(looked, now, order_ == sched::CoreOrder::served, wakeups);
}

// Reads the state of the watched job's thread. That job runs before all others here, so only the platform keeps it from
// running, and not for long.
CoreJobs::Looked CorePool::look_at_watched(Time now) const noexcept {
  CoreJobs::Looked looked;
  {
    const os::LockGuard lock(mutex_);
    looked = jobs_.watched_job(now);
  }
  if (!looked.worker) return looked;
  BudgetWatch::Found& found = looked.found;
  found.left = looked.budget - looked.worker->used_by_job();
  found.asleep = !looked.may_sleep && found.left > Duration::zero() && BudgetWatch::may_wait(found, looked.before) &&
                 looked.worker->is_asleep();
  return looked;
}

void CorePool::watch_idleness(IdleWatch* watch, sched::Ppm share) noexcept {
  const os::LockGuard lock(mutex_);
  jobs_.early().use(watch, share);
}

bool CorePool::has_early_jobs(Time now) const noexcept {
  const os::LockGuard lock(mutex_);
  return jobs_.has_early_jobs(now);
}

Time CorePool::start_early(Time now) noexcept {
  DeferredWakeups wakeups;
  const os::LockGuard lock(mutex_);
  return jobs_.start_early(now, wakeups);
}

std::uint64_t CorePool::early_starts() const noexcept {
  const os::LockGuard lock(mutex_);
  return jobs_.early().count();
}

}  // namespace corelane::dispatch
