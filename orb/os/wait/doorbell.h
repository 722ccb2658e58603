// Doorbell wakes one thread. The thread waits either only for the doorbell, or also for bytes on a descriptor.
// Threads: one waiter; any thread calls ring().
// Invariants: at most one ring is kept until the waiter looks. A wait may end without a new ring (after an old ring or
// a signal), so the waiter checks why it woke. What the caller of ring() wrote before is visible after the wait that
// the ring ended.
#pragma once

#include <atomic>
#include <cstdint>

#include "orb/base/time.h"
#include "orb/os/fd.h"
#include "orb/os/wait/wait.h"

namespace corelane::os {

class Doorbell {
 public:
  // Makes the descriptor that wait_beside() needs. Returns false if the system has none left. Idempotent. Waiter only.
  bool open() noexcept;

  // Blocks until a ring or the deadline. Waiter only.
  void wait(Time deadline, WaitStrategy strategy = {}) noexcept { parker_.park(deadline, strategy); }
  // Blocks until a ring, until the deadline, or until `fd` is readable or has failed. Call open() first. Waiter only.
  // Parking takes one system call, and one more after a ring that found the waiter asleep.
  void wait_beside(int fd, Time deadline, WaitStrategy strategy = {}) noexcept;

  // Rings. One system call if the waiter sleeps, none otherwise.
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
