// StallWatch finds gaps while no job runs that could see them. A thread on each core wakes a thousand times a second
// and records how late it was. Its priority is just above everything of its own program. So lateness beyond a usual
// wake-up comes from the machine: the host, the kernel, or another program with threads of higher priority. With a
// higher priority the watch would run before such a program, and would not see what it takes from the tasks.
//
// One cause is recorded separately: throttling. Each core also has an ordinary thread (SCHED_OTHER). If that thread ran
// while the watch should have run, the kernel kept real-time threads from running.
//
// The watch does not notice programs with levels between those of the tasks and its own. It misses the beginning of
// each gap, up to the time at which it was due, `interval` at most. It may attribute a throttle to the machine in two
// cases: if other ordinary threads share the time that the throttle leaves, or if this one could not be started.
// Then reports excuse too much; otherwise they never do.
//
// Cost: a few microseconds per millisecond and core, to be charged as platform load. The ordinary thread takes as much
// from the time of other ordinary threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <deque>
#include <vector>

#include "orb/base/ids.h"
#include "orb/base/time.h"
#include "orb/os/thread.h"
#include "orb/rt/gap_log.h"

namespace corelane::rt {

class StallWatch {
 public:
  // A usual wake-up on virtual machines takes up to some tens of microseconds; only later ones are recorded.
  static constexpr Duration usual_wakeup = std::chrono::microseconds{150};
  static constexpr Duration interval = std::chrono::milliseconds{1};

  // Watches `cores` until destroyed; `log` outlives it. `highest`: the highest SCHED_FIFO level that the program itself
  // uses. Watches nothing without the privilege for SCHED_FIFO, or if no level is above `highest`, because lateness
  // would then prove nothing. watching() tells.
  StallWatch(const std::vector<CoreId>& cores, GapLog& log, int highest);
  ~StallWatch();

  bool watching() const noexcept { return !threads_.empty(); }

  // Returns why the watch ran at `now` instead of `due`, if the ordinary thread last ran at `seen`. It is a throttle
  // only if that thread ran in the second half of that time. In the first half a timer may have been late, and another
  // program of higher priority may then have run.
  static constexpr GapCause cause_of(Time due, Time now, Time seen) noexcept {
    return seen > due + std::max(usual_wakeup, (now - due) / 2) && seen < now ? GapCause::throttled : GapCause::machine;
  }

 private:
  struct Watched {
    CoreId core;
    std::atomic<Time> seen{Time{}};  // when the ordinary thread ran last; the watch reads it
  };
  void start(Watched& watched, int fifo_priority);
  void watch(const Watched& watched) noexcept;
  void note_runs(Watched& watched) noexcept;

  GapLog& log_;
  std::deque<Watched> cores_;
  std::atomic<bool> stop_{false};
  std::vector<os::Thread> threads_;
};

}  // namespace corelane::rt
