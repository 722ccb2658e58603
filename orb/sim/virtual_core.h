// VirtualCore: the platform under a Lane in virtual time: one processor, preemptive fixed priority, first come first
// served within a level, no overhead; what SCHED_FIFO promises on a bound core.
//
// Threads: owned by the Simulator.
#pragma once

#include <algorithm>
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
  Duration remaining;                      // execution until it ends
  Duration until_sleep = Duration::max();  // execution until it suspends itself; beyond `remaining`: it does not
  Duration used{};                         // executed so far
  Duration locks_at = Duration::max();     // in terms of `used`: a section begins ...
  Duration unlocks_at = Duration::max();   // ... and ends
};

class VirtualCore {
 public:
  // A job joins; it may preempt at the next dispatch().
  void start(Time now, const ReadyJob& job);
  void set_priority(Time now, TaskId task, Priority priority);
  // The job runs at `ceiling` while that is above its priority; best_effort ends it.
  void raise(Time now, JobId job, Priority ceiling);
  // The job executes for at most so much more. False when it is not here.
  bool shorten(Time now, JobId job, Duration most);
  // A job that sleeps is ready again, behind its equals. False when it is not here.
  bool wake(Time now, JobId job);
  void drop_all(Time now);

  // reach() says when this job has used its budget. Replaces what was watched; JobId{} watches nobody.
  void watch(Time now, JobId job, Duration budget);

  enum class What : std::uint8_t { ended, slept, overran, locked, unlocked };
  struct Reached {
    ReadyJob job;
    What what;
  };
  // Advances the running job to `now` and tells the first thing that has come up, if any; ask again for the next.
  std::optional<Reached> reach(Time now);

  // Picks who runs from now on. Returns the instant at which reach() will have something to say; never when idle.
  Time dispatch(Time now);

  std::optional<JobId> running() const;
  std::uint64_t preemptions() const { return preemptions_; }
  Duration busy() const { return busy_; }

 private:
  struct Entry {
    ReadyJob job;
    std::uint64_t order;  // first come first served
    bool asleep = false;
    Priority ceiling = best_effort;

    Priority effective() const { return std::max(job.priority, ceiling); }
  };

  std::vector<Entry>::iterator find(JobId job);
  void charge(Time now);
  void sort();
  Duration until_budget(const ReadyJob& job) const;
  Duration until_lock(const ReadyJob& job) const;

  std::vector<Entry> jobs_;  // by descending effective priority, then by order
  bool running_ = false;     // current_ has run since since_
  JobId current_{};
  Time since_{};
  JobId watched_{};
  Duration budget_{};  // of watched_
  std::uint64_t last_order_ = 0;
  Duration busy_{};
  std::uint64_t preemptions_ = 0;
};

}  // namespace corelane::sim
