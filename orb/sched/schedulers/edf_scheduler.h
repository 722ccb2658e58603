// EdfScheduler is a CoreScheduler whose platform is earliest deadline first on one core: SCHED_DEADLINE, or the
// simulator's virtual core. It takes the same facts and gives the same commands as CoreScheduler, with these
// differences:
// - Jobs are ordered by their place: the deadline of the Run minus J. Between equal places the older JobId goes first.
// - Priorities are kept only for a move to a core that uses them.
// - A Run for a job that already runs gives it a later deadline.
// - Demoted jobs run below all others.
//
// The CoreScheduler decides about releases, suspensions, early jobs and moves. The demand analysis in
// orb/sched/analysis/demand.h describes the jobs that it lets through.
//
// Overruns are handled here. Under fixed priorities, a job that exceeds its budget delays the jobs below it. Under
// deadlines it would delay every job, so the running job is always watched. With the policy `report`, the rest of the
// job counts as the task's next job. It takes the nominal release of that job, its deadline and another C, and the
// waiting jobs move back by one place. A job that slept longer than its S is treated in the same way when it wakes,
// with the rest of its C. So the task never demands more than its contract, and it pays for its own excess. (For D = T
// without jitter this is the constant bandwidth server.)
//
// Threads: owned by one thread at a time. No clock, no thread. Nothing allocates after the constructor. Bound: the
// number of tasks, or the waiting jobs of one task, for every loop.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "orb/sched/analysis/demand.h"
#include "orb/sched/schedulers/core_scheduler.h"

namespace corelane::sched {

// Returns a contract as demand_analysis() needs it: the deadline is D - J from the release, and a suspension counts as
// execution.
constexpr EdfTask demand_of(const Contract& c) noexcept {
  return {.budget = (c.budget + c.suspension).count(),
          .period = c.period.count(),
          .deadline = (c.deadline - c.jitter).count(),
          .jitter = c.jitter.count()};
}

class EdfScheduler {
 public:
  EdfScheduler(CoreId core, std::size_t max_tasks, TimerId timer);

  // These members work like those of CoreScheduler.
  void allow_early(bool allowed) noexcept { scheduler_.allow_early(allowed); }
  bool add(TaskId task, const Contract& contract, Priority priority) noexcept;
  std::span<const Command> join(Time now, TaskId task, const Contract& contract, Priority priority) noexcept;
  bool reprioritize(TaskId task, Priority priority) noexcept;  // always false: the platform has no priorities to change
  std::span<const Command> decide(const Fact& fact) noexcept;
  std::span<const Command> vacate(Time now, TaskId task) noexcept;
  std::span<const Command> dismiss(Time now, TaskId task) noexcept;
  ScheduledTask take(TaskId task) noexcept;
  // A job that continues here counts as released now, and a Run says so. Waiting jobs are released now or later.
  std::span<const Command> put(Time now, const ScheduledTask& task) noexcept;

  // Returns the execution time after which the running job overruns (again). Returns Duration::max() if the job does
  // not run or is demoted.
  Duration granted(TaskId task, JobId job) const noexcept;

  CoreId core() const noexcept { return scheduler_.core(); }
  bool idle(Time now) const noexcept { return scheduler_.idle(now); }
  std::span<const ScheduledTask> tasks() const noexcept { return scheduler_.tasks(); }

 private:
  // A running job.
  struct Started {
    Run run;           // the latest Run of the job
    Duration jitter;   // J of its contract
    Duration granted;  // execution time until it overruns (again)
    // The job came from another core and has not overrun since.
    bool carried = false;
    bool asleep = false;
    bool demoted = false;
    Time place() const noexcept { return run.deadline - jitter; }
  };

  Started* find(TaskId task, JobId job) noexcept;
  const ScheduledTask* state_of(TaskId task) const noexcept;
  void before(const Fact& fact) noexcept;
  void after(const Fact& fact) noexcept;
  void forward(std::span<const Command> commands) noexcept;
  void note(const Command& command) noexcept;
  void started(const Run& run) noexcept;
  void postpone(Time now, Started& job) noexcept;
  void space(Time now, TaskId task, Time first) noexcept;
  std::span<const Command> settle() noexcept;

  CoreScheduler scheduler_;
  std::vector<Started> started_;   // at most one job of each task
  std::vector<Command> commands_;  // the answer to the last call
  Watched watched_;
};

}  // namespace corelane::sched
