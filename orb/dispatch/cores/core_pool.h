// CorePool runs the tasks of one leased core. It has the core's lock; what that guards is in CoreJobs.
//
// The thread that learns a fact steps the CoreScheduler, under a short priority-inheriting lock. That is the manager
// when a job arrives. It is the task's own thread when a job arrives on the task's own connection, and when a job ends.
// It is also that thread when an early job (one that arrived before its time) becomes eligible. So a job goes from the
// manager to the task's thread, or directly to that thread, and nothing comes back. There is no completion queue and no
// timer thread, and the CoreScheduler sees each fact when it happens, as in the simulator. If only the manager stepped
// the CoreScheduler, each job would cost one more wake-up.
//
// Threads: the one that holds the manager's lock, the threads of this core's tasks, and others where a function says
// so. Only move() locks two pools at once, so a task and its running job are always in one of them.
//
// The folder orb/dispatch/cores runs the jobs of admitted tasks: cores, task threads, budgets and timers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "orb/base/ids.h"
#include "orb/base/thread_safety.h"
#include "orb/base/time.h"
#include "orb/dispatch/budgets/budget_alarm.h"
#include "orb/dispatch/cores/core_jobs.h"
#include "orb/dispatch/cores/idle_watch.h"
#include "orb/dispatch/job.h"
#include "orb/dispatch/queue/inbox.h"
#include "orb/dispatch/queue/request_queue.h"
#include "orb/os/pi_mutex.h"
#include "orb/sched/priority.h"
#include "orb/sched/task.h"

namespace corelane::dispatch {

class CorePool {
 public:
  using Assignment = CoreJobs::Assignment;
  using Refused = CoreJobs::Refused;
  using Ended = CoreJobs::Ended;
  using Own = CoreJobs::Own;

  // `inbox`: the manager's; vacated tasks are reported there. `ring`: records what the CoreScheduler learns and
  // decides. `overshoot`: by how much the timers of early jobs are set late. Mostly another fact of the core releases a
  // due job before its timer (docs/servers.md, firm timers).
  CorePool(CoreId core, std::size_t max_tasks, NoteInbox& inbox, RecorderRing* ring = nullptr, Duration overshoot = {});

  // Schedules the core by deadlines from now on. The pool sets the SCHED_FIFO levels of its workers' threads by the
  // deadlines of their jobs. No thread reads its own connection, because a job has no deadline before it is read. Call
  // it before the first task.
  void use_deadlines(sched::NativeRange natives);
  // Lets the kernel order the core's jobs by deadlines, with a server for each task (ThreadPlacement::share). A thread
  // that wakes then has its place without the pool. Call it before the first task.
  void use_servers();
  sched::CoreOrder order() const noexcept { return order_; }  // any thread
  // Returns whether a task's thread may read its own connection. Any thread.
  bool may_read_own() const noexcept { return order_ != sched::CoreOrder::deadline; }

  // Does the same as sched::CoreScheduler::charge_overruns(). Call it before the first task.
  void charge_overruns();

  // Call the following functions with the manager's lock.
  bool add(const WorkerPtr& worker, Priority priority) noexcept;
  // Does the same, but the task's jobs wait for an idle instant of the core.
  void join(const WorkerPtr& worker, Priority priority, Time now) noexcept;
  void reprioritize(TaskId task, Priority priority) noexcept;
  [[nodiscard]] Refused arrive(TaskWorker& worker, JobPtr job, JobId id, Time at) noexcept;
  void vacate(TaskId task, Time now) noexcept;
  // Makes the task leave. Returns its waiting jobs.
  [[nodiscard]] JobList dismiss(TaskWorker& worker, Time now) noexcept;
  // Moves the task to the pool `to`, with the job that it may be running (its core was lost). If `to` is this pool, the
  // task stays, because it was vacated but then not moved. The caller moves the thread (ThreadPlacer::placement()).
  void move(const WorkerPtr& worker, CorePool& to, Priority priority, Time now) noexcept;
  // Handles the loss of the core, for the tasks that are left here and must end. Nothing is promised to them any more,
  // and the system may let their threads run anywhere. So their running jobs end below all admitted tasks.
  void strand() noexcept;
  // Reopens the core that is back. Returns false if part of a task that had to end still runs there; then try again
  // later.
  bool reopen() noexcept;
  // Returns the number of early jobs of a task so far.
  std::uint64_t early_jobs(TaskId task) const noexcept;
  // Returns the number of early jobs that only their timer released.
  std::uint64_t timer_releases() const noexcept;

  // Fills `next` if a job of the worker may run now, and returns the time from which to ask again. Call it on the
  // worker's thread.
  Time take(TaskWorker& worker, Time now, Assignment& next) noexcept;
  // Accepts a job that arrived on the task's own connection at `at` and was found in a step that began at `now`. Call
  // it on the worker's thread.
  // - taken: the job is accepted, and is in `next` if it may run at once.
  // - refused: the job stays with the caller; `reason` says why.
  // - elsewhere: the task has just been moved, and its worker is being woken.
  [[nodiscard]] Own arrive_own(TaskWorker& worker, JobPtr& job, Time at, Time now, Assignment& next,
                               sched::Refusal& reason) noexcept;

  // Ends a job. Returns the time from which to ask take() again. Call this and the next two functions on the worker's
  // thread; they act on the pool that has the task now.
  static Time finish(TaskWorker& worker, const Ended& job) noexcept;
  // Tell the CoreScheduler that the running job waits for something other than its core, or continues.
  static void suspend(TaskWorker& worker, JobId job, Time at) noexcept;
  static void resume(TaskWorker& worker, JobId job, Time at) noexcept;
  // Returns whether a job of the worker's task runs or waits.
  static bool has_jobs(const TaskWorker& worker) noexcept;
  // Returns the number of waiting jobs of the task, without the one that runs.
  static std::size_t waiting_jobs(const TaskWorker& worker) noexcept;

  // Sets the alarm that watches enforced or charged budgets; null: they are not watched. Any thread.
  void watch_budgets(BudgetAlarm* alarm) noexcept;
  // Call when the alarm fires. Demotes or cancels the watched job if it has used up its budget. Does the same if the
  // job sleeps although its contract allows no suspension, because what it executes later would come on top of what the
  // analysis counts. Also gives demoted jobs their levels back if they may continue in the place of their task's next
  // job. Any thread.
  void check_budget(Time now) noexcept;

  // Sets the watch that finds out when the core is idle, so that early jobs may start then; null: they may not any
  // more. `share`: the part of the core that all jobs together may use. The watch must outlive the core's other
  // threads, which may still notify it. Any thread.
  void watch_idleness(IdleWatch* watch, sched::Ppm share) noexcept;
  // Returns whether an early job waits and the core scheduler has no other job to run. Any thread.
  bool has_early_jobs(Time now) const noexcept;
  // Starts early jobs, up to the core's share, because the core is idle and no other process uses it. Early jobs come
  // on top of what was admitted. Without the limit, a client that never waits would fill the core, and the kernel takes
  // 50 ms of each second from a full core. Returns the time from which to ask again; `never`: the watch will be
  // notified. Thread: the watch's.
  Time start_early(Time now) noexcept;
  // Returns how many early jobs were started this way. Any thread.
  std::uint64_t early_starts() const noexcept;

  CoreId core() const noexcept { return core_; }

 private:
  // Calls use(jobs) with the CoreJobs that have the worker's task, under the lock of their pool. Returns its result.
  template <typename Use>
  static auto at_home(const TaskWorker& worker, Use use) noexcept;
  void hand_over(const WorkerPtr& worker, CorePool& to, Priority priority, Time now, DeferredWakeups& wakeups) noexcept
      CORELANE_REQUIRES(mutex_, to.mutex_);
  CoreJobs::Looked look_at_watched(Time now) const noexcept;

  const CoreId core_;
  sched::CoreOrder order_ = sched::CoreOrder::priority;  // constant from the first task on

  mutable os::PiMutex mutex_;
  CoreJobs jobs_ CORELANE_GUARDED_BY(mutex_);
};

}  // namespace corelane::dispatch
