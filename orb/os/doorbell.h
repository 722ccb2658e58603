// Doorbell: wakes one thread that either only waits for it, or waits beside it for bytes on a descriptor.
// Threads: one waiter; ring() any. Invariants: a ring is kept until the waiter looks, at most one; a wait may end
// though nobody rang (an old ring, a signal), so the waiter looks for its reasons itself. What the ringer wrote before
// ring() is visible after the wait that it ended.
#pragma once

#include <atomic>
#include <cstdint>

#include "orb/base/time.h"
#include "orb/os/fd.h"
#include "orb/os/wait.h"

namespace corelane::os {

class Doorbell {
 public:
  // Takes the descriptor that wait_beside() needs; false when the system has none left. Idempotent. Waiter only.
  bool open() noexcept;

  // Until a ring or the deadline. Waiter only.
  void wait(Time deadline, WaitStrategy strategy = {}) noexcept { parker_.park(deadline, strategy); }
  // Until a ring, the deadline, or `fd` is readable or has failed. After open(). Waiter only. Parking: one system call,
  // and one more after a ring that found the waiter asleep.
  void wait_beside(int fd, Time deadline, WaitStrategy strategy = {}) noexcept;

  // One system call when the waiter sleeps, none otherwise.
  void ring() noexcept;

 private:
  static constexpr std::uint32_t resting = 0, rung = 1, asleep = 2;

  void sleep_beside(int fd, Time deadline) noexcept;

  Parker parker_;  // for wait()
  Fd event_;
  std::atomic<std::uint32_t> word_{resting};  // for wait_beside()
  AdaptiveSpin learnt_;                       // owner: the waiter
};

}  // namespace corelane::os
