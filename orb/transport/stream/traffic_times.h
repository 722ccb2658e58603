// TrafficTimes knows when something last came or went over a connection, and until when something must come.
// Threads: any. All accesses are relaxed: they are time stamps, and no other data depends on them.
#pragma once

#include <algorithm>
#include <atomic>

#include "orb/base/time.h"
#include "orb/os/clock.h"

namespace corelane::transport {

class TrafficTimes {
 public:
  // `idle_timeout`: how long the connection may be quiet. Zero: for any time.
  explicit TrafficTimes(Duration idle_timeout) noexcept : idle_timeout_(idle_timeout), last_(os::now()) {}

  bool has_idle_timeout() const noexcept { return idle_timeout_ > Duration::zero(); }
  // Restarts the idle timeout.
  void note(Time now) noexcept { last_.store(now, std::memory_order_relaxed); }  // relaxed: as said above
  // Does so now. Reads no clock if there is no idle timeout.
  void renew() noexcept {
    if (has_idle_timeout()) note(os::now());
  }
  Time last() const noexcept { return last_.load(std::memory_order_relaxed); }  // relaxed: as said above

  // Sets until when something must come; `never`: no such time. Returns whether that is a change.
  bool expect_by(Time deadline) noexcept {
    return expected_by_.exchange(deadline, std::memory_order_relaxed) != deadline;  // relaxed: as said above
  }
  bool is_overdue(Time now) const noexcept {
    return now >= expected_by_.load(std::memory_order_relaxed);  // relaxed: as said above
  }
  // Returns when the first of the two times is over; `never`: there is none.
  Time limit() const noexcept {
    const Time expected = expected_by_.load(std::memory_order_relaxed);  // relaxed: as said above
    return has_idle_timeout() ? std::min(expected, last() + idle_timeout_) : expected;
  }

 private:
  const Duration idle_timeout_;
  std::atomic<Time> last_;
  std::atomic<Time> expected_by_{never};
};

}  // namespace corelane::transport
