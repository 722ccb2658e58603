// CorePool runs the tasks of one leased core: it has the core's CoreScheduler and the workers of the tasks that are
// there.
//
// The thread that learns a fact steps the CoreScheduler, under a short priority-inheriting lock. That is the manager
// when a job arrives. It is the task's own thread when a job arrives on the task's own connection, and when a job ends.
// It is also that thread when an early job (one that arrived before its time) becomes eligible. So a job goes from the
// manager to the task's thread, or directly to that thread, and nothing comes back. There is no completion queue and no
// timer thread, and the CoreScheduler sees each fact when it happens, as in the simulator. If only the manager stepped
// the CoreScheduler, each job would cost one more wake-up.
//
// Ready jobs run in the order of their threads' SCHED_FIFO levels: the kernel is the preemptive platform that the
// CoreScheduler relies on. On a core scheduled by deadlines, the levels follow the deadlines of the current jobs and of
// jobs that become eligible later (sched::DeadlineLevels). So the same platform runs the earliest deadline first.
//
// Threads: the one that holds the manager's lock, the threads of this core's tasks, and others where a function says
// so. Only move() locks two pools at once, so a task and its running job are always in one of them.
//
// The folder orb/dispatch/cores runs the jobs of admitted tasks: cores, task threads, budgets and timers.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "orb/base/contract.h"
#include "orb/base/ids.h"
#include "orb/base/time.h"
#include "orb/dispatch/cores/budget_alarm.h"
#include "orb/dispatch/cores/idle_watch.h"
#include "orb/dispatch/job.h"
#include "orb/dispatch/queue/inbox.h"
#include "orb/dispatch/queue/request_queue.h"
#include "orb/dispatch/telemetry/recorded_scheduler.h"
#include "orb/os/pi_mutex.h"
#include "orb/sched/commands.h"
#include "orb/sched/priority.h"
#include "orb/sched/schedulers/core_scheduler.h"
#include "orb/sched/schedulers/deadline_levels.h"
#include "orb/sched/task.h"

namespace corelane::dispatch {

class DeferredWakeups;
class TaskWorker;
using WorkerPtr = std::shared_ptr<TaskWorker>;

class CorePool {
 public:
  struct Assignment {
    JobPtr job;
    JobContext context{};
  };
  struct Refused {
    JobPtr job;  // null: the pool took it
    sched::Refusal reason{};
  };
  struct Ended {
    Time at;
    JobId job;
    Duration used{};       // execution
    Duration overslept{};  // in suspensions, if that exceeds the contract's S; else zero
    Duration waited{};     // undeclared
  };
  // What happened to a job that came on the task's own connection.
  enum class Own : std::uint8_t { taken, refused, elsewhere };

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
  void charge_overruns() { scheduler_.charge_overruns(); }

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
  // task stays, because it was vacated but then not moved. The caller moves the thread (TaskWorker::placement()).
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
  class Home;
  // The state of the job that the alarm was set for, as it was a moment ago.
  struct Looked {
    WorkerPtr worker;  // null: no job is watched
    JobId job{};
    Duration budget{};
    Duration left{};      // of the budget
    bool asleep = false;  // undeclared
  };
  const WorkerPtr* worker_of(TaskId task) const noexcept;
  const sched::ScheduledTask* scheduled_task(TaskId task) const noexcept;
  void carry_out(std::span<const sched::Command> commands, DeferredWakeups& wakeups,
                 JobList* cancelled = nullptr) noexcept;
  sched::ScheduledTask give_away(const TaskWorker& worker) noexcept;
  void receive(const WorkerPtr& worker, const sched::ScheduledTask& task, Time now, DeferredWakeups& wakeups) noexcept;
  Time end(TaskWorker& worker, const Ended& job, DeferredWakeups& wakeups) noexcept;
  void make_ready(const sched::Run& run, DeferredWakeups& wakeups) noexcept;
  void await_early_job(TaskId task, DeferredWakeups& wakeups) noexcept;
  void place_early_job(const TaskWorker& worker, DeferredWakeups& wakeups) noexcept;
  void place(const TaskWorker& worker, JobId job, Time deadline, DeferredWakeups& wakeups) noexcept;
  void give_place_back(TaskId task) noexcept;
  [[nodiscard]] Refused accept(TaskWorker& worker, JobPtr job, JobId id, Time at, DeferredWakeups& wakeups) noexcept;
  static bool has_early_job(const TaskWorker& worker, const sched::ScheduledTask& task) noexcept;
  Time next_look(const TaskWorker& worker) const noexcept;
  void assign(TaskWorker& worker, Time now, Assignment& next) noexcept;
  static JobPtr remove(TaskWorker& worker, JobId id) noexcept;
  Looked look_at_watched(Time now) const noexcept;
  bool has_waited(const Looked& looked, Time now) noexcept;
  void look_again(const Looked& looked, Time began) noexcept;
  void tell_of_early_jobs(Time now, DeferredWakeups& wakeups) const noexcept;
  Duration early_work(Time now) const noexcept;
  sched::Ppm unpromised() const noexcept;
  void watch(const sched::Watch& watched) noexcept;
  void let_return(Time now, DeferredWakeups& wakeups) noexcept;
  void note_returns() noexcept;
  void set_alarm() noexcept;
  sched::Elapsed elapsed(Time now) const noexcept;
  void demote(TaskId task, JobId job, bool cancel, DeferredWakeups& wakeups) noexcept;

  // Constant.
  const CoreId core_;
  NoteInbox& inbox_;
  const Duration overshoot_;
  sched::CoreOrder order_ = sched::CoreOrder::priority;  // constant from the first task on

  mutable os::PiMutex mutex_;
  // Guarded by mutex_.
  RecordedScheduler scheduler_;
  BudgetAlarm* alarm_ = nullptr;
  sched::Watch watched_;
  Time look_at_ = never;     // when to check what the watched job has used
  Time return_at_ = never;   // when a demoted job gets its level back; the alarm is set for the earlier time
  bool may_return_ = false;  // there may be a demoted job
  bool stranded_ = false;    // strand() was called: no thread gets its level back
  struct Unused {
    JobId job{};
    Duration left{};  // of its budget
    Time since{};     // the first check that found this amount
  };
  Unused unused_;                                // of a job that has hardly any budget left
  std::optional<sched::DeadlineLevels> levels_;  // on a core scheduled by deadlines
  sched::NativeRange natives_;
  std::uint64_t timer_releases_ = 0;
  IdleWatch* idle_watch_ = nullptr;
  sched::Ppm share_ = 0;
  Time early_from_{};  // no early job may start before; the budgets of the last ones are paid for then
  std::uint64_t early_starts_ = 0;
  JobId ending_{};                  // the job that finish() handles: too late to demote it
  std::vector<WorkerPtr> workers_;  // shared: a wake-up may still be on its way to a worker that has just left
};

}  // namespace corelane::dispatch
