// How a thread waits: a strategy, and a Parker for one waiter on a private futex.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "orb/base/time.h"

namespace corelane::os {

// spin: burn the core until the event or the deadline (leave 5 % idle or do not run it under SCHED_FIFO).
// spin_then_park: spin for a budget, then sleep. park: sleep at once.
enum class WaitMode : std::uint8_t { spin, spin_then_park, park };

struct WaitStrategy {
  WaitMode mode = WaitMode::park;
  Duration spin = std::chrono::microseconds{50};  // budget of spin_then_park
};

// Tells the core that this is a spin loop.
inline void spin_pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Until when a waiter that starts at `start` keeps spinning; never beyond its deadline.
Time spin_end(WaitStrategy strategy, Time start, Time deadline) noexcept;

// One thread waits, any thread wakes it. A wake-up before the wait is kept: at most one, like a token.
// Invariants: only one thread calls park(); what the waker wrote before unpark() is visible after park() returned true.
class Parker {
 public:
  // Waits until unpark() or the deadline; true when woken. May be called with a deadline in the past: a poll.
  // Thread: the one waiter.
  bool park(Time deadline, WaitStrategy strategy = {}) noexcept;

  // Thread: any. One system call when the waiter sleeps, none otherwise.
  void unpark() noexcept;

 private:
  bool take_token() noexcept;

  static constexpr std::uint32_t empty = 0, token = 1, asleep = 2;
  std::atomic<std::uint32_t> word_{empty};
};

}  // namespace corelane::os
