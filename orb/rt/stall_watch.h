// StallWatch: finds the gaps that no job sees because none was running: a thread on each core that wakes a thousand
// times a second, just above everything of its own program, and notes how late it was. Nothing of the program runs
// above it, so lateness beyond a usual wake-up is the machine's: the host's, the kernel's, or that of another program
// whose threads run above. Higher up it would run before such a program, and not see what that keeps from the tasks.
// One reason is told apart: where an ordinary thread of the core, the witness, ran while the watch should have, the
// kernel kept real-time threads away.
//
// What it does not see: programs between the tasks' levels and its own, and of each gap what came before it was due,
// `interval` at most. What it takes for the machine's doing may be a throttle where several ordinary threads share what
// that leaves, or where the witness could not be started: then it excuses too much. Else it never does.
//
// Cost: a few microseconds per millisecond and core, to be charged as platform load; the witness takes as much of what
// ordinary threads get.
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
  // A usual wake-up on virtual machines takes up to some tens of microseconds; only what is later is noted.
  static constexpr Duration usual_wakeup = std::chrono::microseconds{150};
  static constexpr Duration interval = std::chrono::milliseconds{1};

  // Watches `cores` until destroyed; `log` outlives it. `highest`: the highest SCHED_FIFO level that the program itself
  // uses. Without the privilege for SCHED_FIFO, or where no level is above that, lateness would prove nothing, so it
  // then watches nothing: watching() tells.
  StallWatch(const std::vector<CoreId>& cores, GapLog& log, int highest);
  ~StallWatch();

  bool watching() const noexcept { return !threads_.empty(); }

  // Why the watch ran at `now` instead of `due`, when the witness ran last at `seen`: in the second half of that time,
  // since a timer may come late first and another program above the watch then.
  static constexpr GapCause cause_of(Time due, Time now, Time seen) noexcept {
    return seen > due + std::max(usual_wakeup, (now - due) / 2) && seen < now ? GapCause::throttled : GapCause::machine;
  }

 private:
  struct Watched {
    CoreId core;
    std::atomic<Time> seen{Time{}};  // the witness writes, the watch reads
  };
  void start(Watched& watched, int fifo_priority);
  void watch(const Watched& watched) noexcept;
  void witness(Watched& watched) noexcept;

  GapLog& log_;
  std::deque<Watched> cores_;
  std::atomic<bool> stop_{false};
  std::vector<os::Thread> threads_;
};

}  // namespace corelane::rt
