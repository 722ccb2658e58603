// Facts: events with their time stamps. They are the only input of the Manager and the CoreSchedulers, so a recorded
// sequence of facts replays exactly. Facts are plain values. Time is integer nanoseconds of one monotonic clock, real
// or virtual.
#pragma once

#include <optional>
#include <type_traits>
#include <variant>

#include "orb/base/contract.h"
#include "orb/base/ids.h"
#include "orb/base/time.h"

namespace corelane::sched {

// Facts for the Manager.

// A request arrived. `task`: an admitted task, or no_task. Without a task but with a contract, the request is the first
// job of a new task. Without both it is best effort. `peer`: the connection on which the request came.
struct Arrived {
  Time at;
  JobId job;
  TaskId task = no_task;
  PeerId peer{};
  std::optional<Contract> contract{};
};

// A caller asks for admission without a job. `request` identifies the answer: Admit or Refuse carries it as its job.
struct Proposed {
  Time at;
  JobId request;
  PeerId peer{};
  Contract contract{};
};

// A task ends.
struct Departed {
  Time at;
  TaskId task;
};

// A connection is closed. All tasks that it owns end.
struct PeerLost {
  Time at;
  PeerId peer;
};

struct CoreLost {
  Time at;
  CoreId core;
};

// After CoreLost: the core belongs to this process again, and nothing runs on it.
struct CoreReturned {
  Time at;
  CoreId core;
};

// The CoreScheduler of `core` was told to release the task and has been idle since. It starts no more jobs of the task.
// This is the answer to Vacate and to Dismiss.
struct Vacated {
  Time at;
  TaskId task;
  CoreId core;
};

// Facts for the CoreSchedulers. A CoreScheduler also takes Arrived, for its own tasks.

struct Finished {
  Time at;
  JobId job;
  TaskId task;
  Duration used{};  // execution time, for the report
};

// The job has used its budget and has not ended. This is the answer to Watch, or it is found when the job ends.
struct Overran {
  Time at;
  JobId job;
  TaskId task;
  Duration used{};  // execution so far
};

// The running job waits for something other than its core, such as a nested call or a disk. Resumed says that it is
// ready again.
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
