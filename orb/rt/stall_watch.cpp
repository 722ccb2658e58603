#include "orb/rt/stall_watch.h"

#include <sched.h>

#include <algorithm>

#include "orb/os/clock.h"
#include "orb/os/privileges.h"

namespace corelane::rt {

StallWatch::StallWatch(const std::vector<CoreId>& cores, GapLog& log, int highest) : log_(log) {
  if (!os::privileges().fifo || highest >= sched_get_priority_max(SCHED_FIFO)) return;
  for (const CoreId core : cores) {
    auto thread = os::start_thread({.name = "stall-watch", .core = core, .fifo_priority = highest + 1},
                                   [this, core] { watch(core); });
    if (thread) threads_.push_back(std::move(*thread));
  }
}

StallWatch::~StallWatch() {
  // relaxed: only asks the threads to end; join() orders the rest
  stop_.store(true, std::memory_order_relaxed);
  for (os::Thread& thread : threads_) thread.join();
}

void StallWatch::watch(CoreId core) noexcept {
  Time due = os::now() + interval;
  while (!stop_.load(std::memory_order_relaxed)) {  // relaxed: see the destructor
    os::sleep_until(due);
    const Time now = os::now();
    if (now - due > usual_wakeup) log_.record({.begin = due, .length = now - due, .core = core, .preempted = false});
    due = std::max(due, now) + interval;
  }
}

}  // namespace corelane::rt
