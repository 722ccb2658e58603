// Commands: what the Manager and the Lanes want done, in the order in which it is to be done. Plain values; whoever
// carries them out (orb/dispatch with threads, orb/sim in virtual time) adds nothing of its own.
#pragma once

#include <type_traits>
#include <variant>

#include "orb/base/contract.h"
#include "orb/base/ids.h"
#include "orb/base/time.h"
#include "orb/sched/refusal.h"

namespace corelane::sched {

// From the Manager.

// The task may run: make its thread on `core` at `priority` and Lane::add() it. `request` is the job or the proposal
// that asked. A Place of that job follows where it was a job.
struct Admit {
  JobId request;
  TaskId task;
  PeerId peer;
  CoreId core;
  Priority priority;
  Contract contract;
  Duration response;            // the analysed bound
  Time startable_at;            // it may start then at the latest: now, or for Lane::join() when its core was idle
  bool waits_for_idle = false;  // Lane::join(), not add(): it may start when that says Joined
};

// The newcomer gets its core when others have moved or left: Admit follows by then, as long as everybody keeps to his
// contract; `never`: no bound is known. Refuse follows when something comes between (a core is lost).
struct Postpone {
  JobId request;
  Time startable_at;
};

// Hand the job to the Lane of `core` as Arrived. no_core: best effort, no Lane.
struct Place {
  JobId job;
  TaskId task;
  CoreId core;
};

// A task's level on its core has changed (its order among the others has not). In the order given no two tasks ever
// stand in the wrong order.
struct Reprioritize {
  TaskId task;
  CoreId core;
  Priority priority;
};

// The resource's immediate ceiling on its core: whoever locks it runs at this priority until he unlocks it, if his own
// is not higher; who holds it now does so from now on, too. best_effort: nobody on this core uses it any more. All
// users of a resource are on one core, so the ceiling alone keeps it free for whoever may run; the lock itself is a
// safeguard.
struct Ceiling {
  ResourceId resource;
  CoreId core;
  Priority priority;
};

// Lane::vacate(): at the core's next idle instant hold the task's jobs, and report Vacated.
struct Vacate {
  TaskId task;
  CoreId core;
};

// Lane::take() on `from`, then Lane::put() on `to` and bind the task's thread there. Comes after Vacated, so no job of
// the task runs. from == to: the move was called off, only put() it back. From a lost core it comes without Vacated.
struct Move {
  TaskId task;
  CoreId from;
  CoreId to;
  Priority priority;
};

// Lane::dismiss(): the task has left; drop its waiting jobs, and report Vacated at the core's next idle instant.
struct Dismiss {
  TaskId task;
  CoreId core;
};

// An admitted task must go, since its core was lost; it is gone already for the Manager. Tell its owner.
struct Evict {
  TaskId task;
  PeerId peer;
  CoreId core;
  Refusal reason;
};

// The job (or proposal) may not run. Comes from Lanes too.
struct Refuse {
  JobId job;
  Refusal reason;
};

// From a Lane.

// The job may execute now on the Lane's core at its task's priority; the platform under a Lane is preemptive fixed
// priority (whatever its thread had before). Response and misses count from `released`.
struct Run {
  JobId job;
  TaskId task;
  Priority priority;
  Time released;
  Time deadline;  // released + D
};

struct Defer {  // the job came early; it waits in the Lane. For the record: the Arm beside it is what matters
  JobId job;
  TaskId task;
  Time until;
};

// The running job overran: until it has Finished its thread runs below all admitted tasks, where it takes only what
// they leave; for the analysis it has ended. Its task's next job comes with a Run of its own, after Finished.
struct Demote {
  JobId job;
  TaskId task;
};

// The job's answer goes out now (TIMEOUT). One that waited is forgotten; one that runs gets its stop token and is
// demoted as above, until it Finished.
struct Cancel {
  JobId job;
  TaskId task;
};

// This job is the one that the platform runs on the Lane's core: feed Overran when its execution since Run (its
// thread's processor time) reaches `budget`; while it is preempted or suspended that cannot happen. Replaces what was
// watched on this core. Job 0: nobody; so it is after Overran, until the next Watch, which may be the same as the last.
// By priorities jobs under `report` are not watched where overruns are not charged: compare their use with the budget
// when they end.
struct Watch {
  JobId job{};
  TaskId task{};
  Duration budget{};
};

struct Arm {  // feed Elapsed{timer} at `at`. Replaces what was armed under this id; Time `never` disarms
  TimerId timer;
  Time at;
};

struct ReportVacated {  // feed Vacated to the Manager
  TaskId task;
  CoreId core;
};

// The task that had to wait for an idle instant may start: tell its owner.
struct Joined {
  TaskId task;
  CoreId core;
};

using Command = std::variant<Admit, Postpone, Place, Reprioritize, Ceiling, Vacate, Move, Dismiss, Evict, Refuse, Run,
                             Defer, Demote, Cancel, Watch, Arm, ReportVacated, Joined>;
static_assert(std::is_trivially_copyable_v<Command>);

}  // namespace corelane::sched
