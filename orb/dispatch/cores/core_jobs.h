// CoreJobs has what the lock of one core guards: the core's CoreScheduler, the workers of the tasks that are there, and
// the watches over their jobs. It tells the CoreScheduler facts and carries out what that commands. What has to be done
// after the lock is released, it leaves to DeferredWakeups.
//
// Ready jobs run in the order of their threads' SCHED_FIFO levels: the kernel is the preemptive platform that the
// CoreScheduler relies on. On a core scheduled by deadlines, the levels follow the deadlines of the current jobs and of
// jobs that become eligible later (sched::DeadlineLevels). So the same platform runs the earliest deadline first.
//
// Threads: guarded by the pool's lock, which a caller holds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "orb/base/contract.h"
#include "orb/base/ids.h"
#include "orb/base/time.h"
#include "orb/dispatch/budgets/budget_alarm.h"
#include "orb/dispatch/budgets/budget_watch.h"
#include "orb/dispatch/cores/early_starts.h"
#include "orb/dispatch/job.h"
#include "orb/dispatch/queue/inbox.h"
#include "orb/dispatch/queue/request_queue.h"
#include "orb/dispatch/telemetry/recorded_scheduler.h"
#include "orb/sched/commands.h"
#include "orb/sched/priority.h"
#include "orb/sched/schedulers/core_scheduler.h"
#include "orb/sched/schedulers/deadline_levels.h"

namespace corelane::dispatch {

class DeferredWakeups;
class TaskWorker;
using WorkerPtr = std::shared_ptr<TaskWorker>;

class CoreJobs {
 public:
  struct Assignment {
    JobPtr job;
    JobContext context{};
  };
  struct Refused {
    JobPtr job;  // null: it was taken
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
  // The state of the job that the alarm was set for, as it was a moment ago.
  struct Looked {
    WorkerPtr worker;  // null: no job is watched
    Duration budget{};
    bool may_sleep = true;
    BudgetWatch::Found found{};
    BudgetWatch::Unused before{};
  };

  // As CorePool's.
  CoreJobs(CoreId core, std::size_t max_tasks, NoteInbox& inbox, RecorderRing* ring, Duration overshoot);

  // Lets the pool set the levels of its workers' threads by the deadlines of their jobs. Call it before the first task.
  void use_deadlines(sched::NativeRange natives);
  RecordedScheduler& scheduler() noexcept { return scheduler_; }
  EarlyStarts& early() noexcept { return early_; }
  const EarlyStarts& early() const noexcept { return early_; }

  bool add(const WorkerPtr& worker, Priority priority) noexcept;
  void join(const WorkerPtr& worker, Priority priority, Time now, DeferredWakeups& wakeups) noexcept;
  void vacate(TaskId task, Time now, DeferredWakeups& wakeups) noexcept;
  [[nodiscard]] JobList dismiss(TaskWorker& worker, Time now, DeferredWakeups& wakeups) noexcept;
  // Take the task out, and put it in, when it is moved.
  sched::ScheduledTask give_away(const TaskWorker& worker, Time now, DeferredWakeups& wakeups) noexcept;
  void receive(const WorkerPtr& worker, const sched::ScheduledTask& task, Time now, DeferredWakeups& wakeups) noexcept;
  void strand(DeferredWakeups& wakeups) noexcept;
  bool reopen() noexcept;

  [[nodiscard]] Refused accept(TaskWorker& worker, JobPtr job, JobId id, Time at, DeferredWakeups& wakeups) noexcept;
  [[nodiscard]] Own arrive_own(TaskWorker& worker, JobPtr& job, Time at, Time now, Assignment& next,
                               sched::Refusal& reason, DeferredWakeups& wakeups) noexcept;
  Time take(TaskWorker& worker, Time now, Assignment& next, DeferredWakeups& wakeups) noexcept;
  // Ends a job whose thread has its level. Returns the time from which to ask take() again.
  Time end(TaskWorker& worker, const Ended& job, DeferredWakeups& wakeups) noexcept;
  void tell(const sched::Fact& fact, DeferredWakeups& wakeups) noexcept;

  void watch_budgets(BudgetAlarm* alarm) noexcept { budgets_.use(alarm); }
  // Returns the job that has to be checked now. What its thread has used, and whether it sleeps, is found without the
  // lock.
  Looked watched_job(Time now) const noexcept;
  // Acts on what was found without the lock, if the same job is still watched. `served`: the core's tasks have servers.
  void check_budget(const Looked& looked, Time now, bool served, DeferredWakeups& wakeups) noexcept;

  bool has_early_jobs(Time now) const noexcept;
  Time start_early(Time now, DeferredWakeups& wakeups) noexcept;
  std::uint64_t early_jobs(TaskId task) const noexcept;
  std::uint64_t timer_releases() const noexcept { return timer_releases_; }

 private:
  const WorkerPtr* worker_of(TaskId task) const noexcept;
  const sched::ScheduledTask* scheduled_task(TaskId task) const noexcept;
  sched::Elapsed elapsed(Time now) const noexcept;
  void carry_out(std::span<const sched::Command> commands, DeferredWakeups& wakeups,
                 JobList* cancelled = nullptr) noexcept;
  void make_ready(const sched::Run& run, DeferredWakeups& wakeups) noexcept;
  void await_early_job(TaskId task, DeferredWakeups& wakeups) noexcept;
  void demote(TaskId task, JobId job, bool cancel, DeferredWakeups& wakeups) noexcept;
  void watch(const sched::Watch& watched) noexcept;
  void end_visit(const sched::ReportVacated& vacated, DeferredWakeups& wakeups) noexcept;
  void place(const TaskWorker& worker, JobId job, Time deadline, DeferredWakeups& wakeups) noexcept;
  void place_early_job(const TaskWorker& worker, DeferredWakeups& wakeups) noexcept;
  void give_place_back(TaskId task) noexcept;
  static bool has_early_job(const TaskWorker& worker, const sched::ScheduledTask& task) noexcept;
  Time next_look(const TaskWorker& worker) const noexcept;
  void assign(TaskWorker& worker, Time now, Assignment& next) noexcept;
  void tell_of_early_jobs(Time now, DeferredWakeups& wakeups) const noexcept;

  // Constant.
  const CoreId core_;
  NoteInbox& inbox_;
  const Duration overshoot_;

  RecordedScheduler scheduler_;
  BudgetWatch budgets_;
  EarlyStarts early_;
  std::optional<sched::DeadlineLevels> levels_;  // on a core scheduled by deadlines
  sched::NativeRange natives_;
  bool stranded_ = false;  // strand() was called: no thread gets its level back
  std::uint64_t timer_releases_ = 0;
  JobId ending_{};                  // the job that finish() handles: too late to demote it
  std::vector<WorkerPtr> workers_;  // shared: a wake-up may still be on its way to a worker that has just left
};

}  // namespace corelane::dispatch
