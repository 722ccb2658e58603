// Facts: what happened, with its time stamp. They are all that the Manager and the Lanes ever learn of the world, so a
// recorded sequence replays exactly. Plain values. Time is integer nanoseconds of one monotonic clock, real or virtual.
#pragma once

#include <optional>
#include <type_traits>
#include <variant>

#include "orb/base/contract.h"
#include "orb/base/ids.h"
#include "orb/base/time.h"

namespace corelane::sched {

// To the Manager.

// A request came in. task: admitted before, or no_task; with a contract it is the first job of a new task; without
// either it is best effort. peer: whose connection it came on.
struct Arrived {
  Time at;
  JobId job;
  TaskId task = no_task;
  PeerId peer{};
  std::optional<Contract> contract{};
};

// Somebody asks for admission without a job. `request` names the answer: Admit or Refuse carries it as its job.
struct Proposed {
  Time at;
  JobId request;
  PeerId peer{};
  Contract contract{};
};

struct Departed {  // a task ends
  Time at;
  TaskId task;
};

struct PeerLost {  // a connection is gone, and all tasks that it owns with it
  Time at;
  PeerId peer;
};

struct CoreLost {
  Time at;
  CoreId core;
};

struct CoreReturned {  // after CoreLost: it is this process's again, and nothing runs there
  Time at;
  CoreId core;
};

// The Lane of `core` was idle after it had been told to let the task go, and starts no job of it any more. The answer
// to Vacate and to Dismiss.
struct Vacated {
  Time at;
  TaskId task;
  CoreId core;
};

// To the Lanes. A Lane takes Arrived too (for a task of its own).

struct Finished {
  Time at;
  JobId job;
  TaskId task;
  Duration used{};  // execution time, for the report
};

// The job has used its budget and goes on: the answer to Watch, or found out when it ends.
struct Overran {
  Time at;
  JobId job;
  TaskId task;
  Duration used{};  // execution so far
};

// The running job waits for something else than its core (a nested call, a disk), and is ready again.
struct Suspended {
  Time at;
  JobId job;
  TaskId task;
};

struct Resumed {
  Time at;
  JobId job;
  TaskId task;
};

struct Elapsed {
  Time at;
  TimerId timer;
};

using Fact = std::variant<Arrived, Proposed, Departed, PeerLost, CoreLost, CoreReturned, Vacated, Finished, Overran,
                          Suspended, Resumed, Elapsed>;
static_assert(std::is_trivially_copyable_v<Arrived>);
static_assert(std::is_trivially_copyable_v<Fact>);

constexpr Time time_of(const Fact& fact) noexcept {
  return std::visit([](const auto& f) { return f.at; }, fact);
}

}  // namespace corelane::sched
