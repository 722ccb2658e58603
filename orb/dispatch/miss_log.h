// MissLog keeps the latest deadline misses of one task, so that a report can look up what the host did at each of them.
//
// Threads: the task's own thread records; any thread reads a copy. The lock has priority inheritance. The task's thread
// takes it only on a miss.
#pragma once

#include <cstddef>
#include <vector>

#include "orb/base/ids.h"
#include "orb/base/thread_safety.h"
#include "orb/base/time.h"
#include "orb/dispatch/recent.h"
#include "orb/os/lock.h"
#include "orb/os/pi_mutex.h"

namespace corelane::dispatch {

// One job that finished after its deadline.
struct Miss {
  Time release;
  Time deadline;
  Time finished;
  CoreId core;
};

class MissLog {
 public:
  static constexpr std::size_t capacity = 256;  // the newest are kept

  void record(const Miss& miss) noexcept {
    const os::LockGuard lock(mutex_);
    misses_.add(miss);
  }

  // Returns the misses in the order in which they were recorded. Allocates; not for real-time threads.
  std::vector<Miss> latest() const {
    std::vector<Miss> result;
    copy_to(result);
    return result;
  }
  // Replaces `into`. Allocates nothing if it has room for `capacity` misses.
  void copy_to(std::vector<Miss>& into) const {
    into.clear();
    into.reserve(capacity);  // before the lock: the task's thread may wait for it
    const os::LockGuard lock(mutex_);
    misses_.for_each([&into](const Miss& miss) { into.push_back(miss); });
  }

 private:
  mutable os::PiMutex mutex_;
  Recent<Miss> misses_ CORELANE_GUARDED_BY(mutex_){capacity};
};

}  // namespace corelane::dispatch
