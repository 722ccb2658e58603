// Commands: what the Manager and the CoreSchedulers want to be done. They are plain values, and they must be carried
// out in the given order. The code that carries them out (orb/dispatch with threads, orb/sim in virtual time) makes no
// decisions of its own.
#pragma once

#include <type_traits>
#include <variant>

#include "orb/base/contract.h"
#include "orb/base/ids.h"
#include "orb/base/time.h"
#include "orb/sched/refusal.h"

namespace corelane::sched {

// Commands of the Manager.

// The task is admitted. Create its thread on `core` with `priority` and call CoreScheduler::add() or
// CoreScheduler::join(). `request` names the job or the proposal that asked. If it was a job, a Dispatch of that job
// follows.
struct Admit {
  JobId request;
  TaskId task;
  PeerId peer;
  CoreId core;
  Priority priority;
  Contract contract;
  Duration response;  // R, the bound of the analysis
  // The latest time at which the task may start: now, or the next idle instant of its core if it has to wait for
  // CoreScheduler::join().
  Time startable_at;
  // Call CoreScheduler::join() instead of add(). The task may start when the CoreScheduler answers Joined.
  bool waits_for_idle = false;
};

// The new task gets its core after other tasks have moved or left. Admit follows at `startable_at` or earlier, as long
// as all tasks keep their contracts. `never` means that no bound is known. If something prevents the plan, for example
// the loss of a core, Refuse follows instead.
struct Postpone {
  JobId request;
  Time startable_at;
};

// Pass the job to the CoreScheduler of `core` as Arrived. no_core: the job is best effort and has no CoreScheduler.
struct Dispatch {
  JobId job;
  TaskId task;
  CoreId core;
};

// The priority level of a task on its core has changed. Its order among the other tasks is the same. If these commands
// are carried out in the given order, no two tasks are ever in the wrong order.
struct Reprioritize {
  TaskId task;
  CoreId core;
  Priority priority;
};

// Sets the immediate priority ceiling of a resource on its core. A job that locks the resource runs at this priority
// until it unlocks it, unless its own priority is higher. A job that holds the resource now changes to the new ceiling
// at once. best_effort: no task on this core uses the resource any more.
//
// All tasks that use a resource are on one core. So the ceiling alone guarantees that a running job finds the resource
// free. The lock itself is a safeguard.
struct Ceiling {
  ResourceId resource;
  CoreId core;
  Priority priority;
};

// Call CoreScheduler::vacate(). At the next idle instant of the core, the CoreScheduler stops starting jobs of the
// task. Then report Vacated.
struct Vacate {
  TaskId task;
  CoreId core;
};

// Call CoreScheduler::take() on `from` and CoreScheduler::put() on `to`, and bind the task's thread to `to`. The
// command comes after Vacated, so no job of the task runs. from == to: the move was called off; call only put() to
// return the task. If `from` is a lost core, the command comes without Vacated.
struct Move {
  TaskId task;
  CoreId from;
  CoreId to;
  Priority priority;
};

// Call CoreScheduler::dismiss(). The task has left: drop its waiting jobs, and report Vacated at the next idle instant
// of the core.
struct Dismiss {
  TaskId task;
  CoreId core;
};

// An admitted task ends because its core was lost. The Manager has already removed it. Tell the owner of the task.
struct Evict {
  TaskId task;
  PeerId peer;
  CoreId core;
  Refusal reason;
};

// The job (or the proposal) is refused. CoreSchedulers send this command, too.
struct Refuse {
  JobId job;
  Refusal reason;
};

// Commands of a CoreScheduler.

// The job may execute now, on the CoreScheduler's core, at the priority of its task (whatever priority its thread had
// before). The platform under a CoreScheduler is preemptive fixed priority. The response time and the deadline count
// from `released`.
struct Run {
  JobId job;
  TaskId task;
  Priority priority;
  Time released;
  Time deadline;  // released + D
};

// The job came early and waits in the CoreScheduler. This is for the record only: the Arm beside it starts the job.
struct Defer {
  JobId job;
  TaskId task;
  Time until;
};

// The running job has exceeded its budget or its suspension. Until it has Finished, run its thread below all admitted
// tasks, where it uses only the time that they leave. For the analysis the job has ended. The next job of the task gets
// its own Run after Finished.
struct Demote {
  JobId job;
  TaskId task;
};

// Answer the job's request now with TIMEOUT. If the job was waiting, it is dropped. If it runs, request its stop token
// and demote it as above until it has Finished.
struct Cancel {
  JobId job;
  TaskId task;
};

// This job is the one that the platform runs on the CoreScheduler's core. Feed Overran when the execution of the job
// since its Run (the processor time of its thread) reaches `budget`. A preempted or suspended job does not reach it.
// The command replaces the previous Watch of this core. Job 0: watch no job. After Overran no job is watched until the
// next Watch, which may repeat the last one.
//
// On a core scheduled by priorities that does not charge overruns, jobs with the policy `report` are not watched.
// Compare their execution time with the budget when they end.
struct Watch {
  JobId job{};
  TaskId task{};
  Duration budget{};
};

// Feed Elapsed{timer} at `at`. The command replaces the previous time of this timer. The time `never` disarms the
// timer.
struct Arm {
  TimerId timer;
  Time at;
};

// Feed Vacated to the Manager.
struct ReportVacated {
  TaskId task;
  CoreId core;
};

// The task that had to wait for an idle instant may start. Tell its owner.
struct Joined {
  TaskId task;
  CoreId core;
};

using Command = std::variant<Admit, Postpone, Dispatch, Reprioritize, Ceiling, Vacate, Move, Dismiss, Evict, Refuse,
                             Run, Defer, Demote, Cancel, Watch, Arm, ReportVacated, Joined>;
static_assert(std::is_trivially_copyable_v<Command>);

}  // namespace corelane::sched
