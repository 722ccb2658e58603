// Defines how a thread waits: a WaitStrategy, and a Parker, which lets one thread sleep on a private futex.
//
// The folder orb/os/wait lets a thread wait: it spins, sleeps, or watches descriptors.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "orb/base/ids.h"
#include "orb/base/time.h"
#include "orb/os/wait/adaptive_spin.h"

namespace corelane::os {

// How a thread waits for an event:
//   spin            Spins until the event or the deadline. Sees the event within a tenth of a microsecond.
//                   The core does nothing else.
//   spin_then_park  Spins for a fixed budget, then sleeps. A late event costs the budget and a wake-up.
//   adaptive        The same, with a budget learned from earlier waits at the same place (AdaptiveSpin).
//                   Leaves the cores to threads that need them (spin_limit.h). Yields before it sleeps.
//   park            Sleeps at once. The wait costs nothing and the event a wake-up: about 1 us if the waking
//                   thread is on the same core, tens of microseconds from another core that was idle.
// A SCHED_FIFO thread that spins rests for 5 % of the time. It sleeps at once if the event is known to come from the
// only core that it may use; see spin_guard.h.
enum class WaitMode : std::uint8_t { spin, spin_then_park, adaptive, park };

// Parses "spin", "spin-then-park", "adaptive" and "park"; returns nothing for other texts.
std::optional<WaitMode> parse_wait_mode(std::string_view text) noexcept;
// Parses the value of a setting, stores it, and returns "". If it is wrong, returns what is expected.
std::string set_wait_mode(std::string_view text, WaitMode& out);
std::string_view name_of(WaitMode mode) noexcept;

struct WaitStrategy {
  WaitMode mode = WaitMode::park;
  Duration spin = std::chrono::microseconds{50};  // the budget of spin_then_park; the largest one of adaptive
};

// Returns the strategy that this process can follow: park instead of adaptive if no thread may spin. Reads files at the
// first call. Thread: any but real-time ones.
WaitStrategy settled(WaitStrategy strategy) noexcept;

// Tells the core that this is a spin loop.
inline void spin_pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Returns until when a waiter that starts at `start` spins; never beyond its deadline.
Time spin_end(WaitStrategy strategy, Time start, Time deadline) noexcept;

// Returns how long a wake-up through the kernel takes between two threads of this process, from 1 us to 200 us. The
// first call measures it, which takes about a millisecond; call it once before that matters.
Duration wake_cost() noexcept;

// Parker lets one thread wait until any other thread wakes it. At most one wake-up that comes before the wait is kept,
// as a token.
// Invariants: only one thread calls park(). What the waking thread wrote before unpark() is visible after park() has
// returned true.
class Parker {
 public:
  // Waits until unpark() or the deadline; returns true if woken. With a deadline in the past, it polls.
  // Thread: the one waiter.
  bool park(Time deadline, WaitStrategy strategy = {}) noexcept;

  // Wakes the waiter. Thread: any. One system call if the waiter sleeps, none otherwise.
  void unpark() noexcept;

 private:
  bool take_token() noexcept;
  bool sleep(Time deadline) noexcept;

  static constexpr std::uint32_t empty = 0, token = 1, asleep = 2;
  std::atomic<std::uint32_t> word_{empty};
  std::atomic<std::int16_t> waker_{no_core.value};  // the core of the last waking thread
  // Owner: the waiter.
  AdaptiveSpin learnt_;
};

}  // namespace corelane::os
