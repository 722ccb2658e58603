// EdfLane: a Lane whose platform is earliest deadline first on one core (SCHED_DEADLINE, or the simulator's virtual
// core): the same facts and commands, but a job's place is the deadline of its Run, ties go to the older JobId, and
// priorities are only kept for a move to a core that has them. A Run for a job that runs already gives it a later
// deadline. Demoted jobs run below all others.
//
// Releases, suspensions, early jobs and moves are the Lane's; the demand analysis of orb/sched/demand.h speaks of what
// it lets through. Overruns are not: under fixed priorities a job that exceeds its budget delays those below it, here
// it would delay everybody. So it is always watched, and under `report` the rest of it counts as the task's next job:
// it takes that one's nominal release and gets its deadline and another C, and the jobs that wait move on by one. A job
// that slept for longer than its S is treated alike when it wakes, with what it has left of C. So the task never
// demands more than its contract, whatever it does, and what it exceeds is charged to itself. (For D = T and no jitter
// this is the constant bandwidth server.)
//
// Threads: owned by one thread at a time. No clock, no thread; nothing allocates after the constructor. Every loop is
// bounded by the number of tasks or by the waiting jobs of one task.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "orb/sched/demand.h"
#include "orb/sched/lane.h"

namespace corelane::sched {

// A contract under earliest deadline first, for demand_analysis(): D - J from the release, and a suspension counts as
// execution.
constexpr EdfTask demand_of(const Contract& c) noexcept {
  return {.budget = (c.budget + c.suspension).count(),
          .period = c.period.count(),
          .deadline = (c.deadline - c.jitter).count(),
          .jitter = c.jitter.count()};
}

class EdfLane {
 public:
  EdfLane(CoreId core, std::size_t max_tasks, TimerId timer);

  // As those of Lane.
  void allow_early(bool allowed) noexcept { lane_.allow_early(allowed); }
  bool add(TaskId task, const Contract& contract, Priority priority) noexcept;
  std::span<const Command> join(Time now, TaskId task, const Contract& contract, Priority priority) noexcept;
  bool reprioritize(TaskId task, Priority priority) noexcept;  // always false: the platform has nothing to change
  std::span<const Command> decide(const Fact& fact) noexcept;
  std::span<const Command> vacate(Time now, TaskId task) noexcept;
  std::span<const Command> dismiss(Time now, TaskId task) noexcept;
  LaneTask take(TaskId task) noexcept;
  // A job that goes on here counts as released now, and a Run says so; those that wait are released now at the
  // earliest.
  std::span<const Command> put(Time now, const LaneTask& task) noexcept;

  // What the job that runs may use until it overruns (again); without end where there is none, or it is demoted.
  Duration granted(TaskId task, JobId job) const noexcept;

  CoreId core() const noexcept { return lane_.core(); }
  bool idle(Time now) const noexcept { return lane_.idle(now); }
  std::span<const LaneTask> tasks() const noexcept { return lane_.tasks(); }

 private:
  // A job that runs.
  struct Started {
    Run run;               // the latest
    Duration jitter;       // of its contract
    Duration granted;      // execution until it overruns (again)
    bool carried = false;  // it came from another core, and has not overrun since
    bool asleep = false;
    bool demoted = false;
    Time place() const noexcept { return run.deadline - jitter; }
  };

  Started* find(TaskId task, JobId job) noexcept;
  const LaneTask* state_of(TaskId task) const noexcept;
  void before(const Fact& fact) noexcept;
  void after(const Fact& fact) noexcept;
  void forward(std::span<const Command> commands) noexcept;
  void note(const Command& command) noexcept;
  void started(const Run& run) noexcept;
  void postpone(Time now, Started& job) noexcept;
  void space(Time now, TaskId task, Time first) noexcept;
  std::span<const Command> settle() noexcept;

  Lane lane_;
  std::vector<Started> started_;   // at most one of each task
  std::vector<Command> commands_;  // answer to the last call
  Watched watched_;
};

}  // namespace corelane::sched
