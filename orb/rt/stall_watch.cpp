#include "orb/rt/stall_watch.h"

#include <sched.h>

#include <algorithm>
#include <utility>

#include "orb/os/clock.h"
#include "orb/os/privileges.h"

namespace corelane::rt {

StallWatch::StallWatch(const std::vector<CoreId>& cores, GapLog& log, int highest) : log_(log) {
  if (!os::privileges().fifo || highest >= sched_get_priority_max(SCHED_FIFO)) return;
  for (const CoreId core : cores) start(cores_.emplace_back(core), highest + 1);
}

void StallWatch::start(Watched& watched, int fifo_priority) {
  auto watch = os::start_thread({.name = "stall-watch", .core = watched.core, .fifo_priority = fifo_priority},
                                [this, &watched] { this->watch(watched); });
  if (!watch) return;
  threads_.push_back(std::move(*watch));
  auto ordinary =
      os::start_thread({.name = "stall-ordinary", .core = watched.core}, [this, &watched] { note_runs(watched); });
  if (ordinary) threads_.push_back(std::move(*ordinary));
}

StallWatch::~StallWatch() {
  // relaxed: only asks the threads to end; join() orders the rest
  stop_.store(true, std::memory_order_relaxed);
  for (os::Thread& thread : threads_) thread.join();
}

void StallWatch::watch(const Watched& watched) noexcept {
  Time due = os::now() + interval;
  while (!stop_.load(std::memory_order_relaxed)) {  // relaxed: see the destructor
    os::sleep_until(due);
    const Time now = os::now();
    if (now - due > usual_wakeup) {
      const Time seen = watched.seen.load(std::memory_order_relaxed);  // relaxed: only the time stamp matters
      log_.record({.begin = due, .length = now - due, .core = watched.core, .cause = cause_of(due, now, seen)});
    }
    due = std::max(due, now) + interval;
  }
}

void StallWatch::note_runs(Watched& watched) noexcept {
  while (!stop_.load(std::memory_order_relaxed)) {             // relaxed: see the destructor
    watched.seen.store(os::now(), std::memory_order_relaxed);  // relaxed: as above
    os::sleep_until(os::now() + interval);
  }
}

}  // namespace corelane::rt
