// VirtualCore: the platform under a Lane in virtual time: one processor, preemptive fixed priority, first come first
// served within a level, no overhead; what SCHED_FIFO promises on a bound core.
//
// Threads: owned by the Simulator.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "orb/base/ids.h"
#include "orb/base/time.h"

namespace corelane::sim {

inline constexpr Priority platform_priority{INT32_MAX};  // of the core's platform load

struct ReadyJob {
  JobId job;
  TaskId task;
  Priority priority;
  Duration remaining;     // until it ends
  Duration until_budget;  // until it overruns; beyond `remaining` when it does not
};

class VirtualCore {
 public:
  // A job joins; it may preempt at the next dispatch().
  void start(Time now, const ReadyJob& job);
  void set_priority(Time now, TaskId task, Priority priority);
  // The job leaves without having ended.
  void drop(Time now, JobId job);
  void drop_all(Time now);

  // Advances the running job to `now`: what has come to its end, or to its budget, first. Nothing when neither.
  struct Reached {
    ReadyJob job;
    bool ended;
  };
  std::optional<Reached> reach(Time now);

  // Picks who runs from now on. Returns the instant at which reach() will have something to say; never when idle.
  Time dispatch(Time now);

  std::optional<JobId> running() const;
  std::uint64_t preemptions() const { return preemptions_; }
  Duration busy() const { return busy_; }

 private:
  void charge(Time now);

  std::vector<ReadyJob> ready_;  // by descending priority, then by arrival
  bool running_ = false;         // ready_[current_] has run since since_
  JobId current_{};
  Time since_{};
  Duration busy_{};
  std::uint64_t preemptions_ = 0;
};

}  // namespace corelane::sim
