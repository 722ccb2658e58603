// How a thread waits: a strategy, and a Parker for one waiter on a private futex.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

#include "orb/base/ids.h"
#include "orb/base/time.h"
#include "orb/os/adaptive_spin.h"

namespace corelane::os {

// spin: burn the core until the event or the deadline. It is seen within a tenth of a microsecond, and the core does
// nothing else.
// spin_then_park: spin for a fixed budget, then sleep; a late event costs the budget and a wake-up.
// adaptive: the same, with a budget learnt from earlier waits of the same place; see AdaptiveSpin. It leaves the cores
// to threads that need them; see spin_limit.h.
// park: sleep at once. Costs nothing while waiting and a wake-up at the event: about 1 us when the waker is on the same
// core, tens of microseconds when it is on another one that fell idle.
// A SCHED_FIFO thread that spins rests for 5 % of the time, and sleeps at once when the event is known to come from the
// one core that it may run on; see SpinGuard.
enum class WaitMode : std::uint8_t { spin, spin_then_park, adaptive, park };

// "spin", "spin-then-park", "adaptive", "park"; nothing for other texts.
std::optional<WaitMode> parse_wait_mode(std::string_view text) noexcept;
std::string_view name_of(WaitMode mode) noexcept;

struct WaitStrategy {
  WaitMode mode = WaitMode::park;
  Duration spin = std::chrono::microseconds{50};  // budget of spin_then_park, the largest one of adaptive
};

// The strategy as this process can follow it: park instead of adaptive where no thread may spin.
// Reads files at the first call. Thread: any but real-time ones.
WaitStrategy settled(WaitStrategy strategy) noexcept;

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

// What a wake-up through the kernel takes between two threads of this process, from 1 us to 200 us. Measured at the
// first call, which takes about a millisecond; call it once before it matters.
Duration wake_cost() noexcept;

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
  bool sleep(Time deadline) noexcept;

  static constexpr std::uint32_t empty = 0, token = 1, asleep = 2;
  std::atomic<std::uint32_t> word_{empty};
  std::atomic<std::int16_t> waker_{no_core.value};  // the core that the last wake-up came from
  // Owner: the waiter.
  AdaptiveSpin learnt_;
};

}  // namespace corelane::os
