// AdaptiveSpin learns from earlier waits how long a waiter should spin before it sleeps.
//
// Spinning costs core time for as long as the waiter spins. Sleeping costs the latency of a wake-up. So a waiter spins
// if it expects the event sooner than a wake-up takes. It spins for as long as it expects to wait. Otherwise it sleeps
// at once. Except in a trial (see below), it never spins longer than a wake-up costs. So spinning wastes at worst what
// sleeping would have cost (the rent-or-buy rule, competitive ratio 2).
//
// The expected wait is the mean plus four deviations, smoothed like the round trips of TCP (RFC 6298, 2.3). A gap
// counts as four wake-ups at most, so that about ten events are enough to forget one long pause.
//
// When two threads answer each other, each may sleep only because the other one sleeps. Then an answer takes a little
// more than a wake-up, and neither thread would learn that spinning is enough. So if the mean wait is shorter than
// three wake-ups, the waiter spins in 16 of 256 waits all the same (a trial). It then spins for up to two wake-ups. The
// trials cost a sixteenth of what sleeping costs anyway.
//
// Thread: the waiter. A value type; it reads no clock.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <utility>

#include "orb/base/time.h"

namespace corelane::os {

class AdaptiveSpin {
 public:
  // Returns how long the next wait may spin: at most `most` and at most `wake_cost`, or twice `wake_cost` on a trial.
  // Zero means: sleep at once. Without experience it returns the upper bound.
  Duration budget(Duration wake_cost, Duration most) const noexcept {
    const Duration bound = std::min(wake_cost, most);
    if (!learnt_) return bound;
    if (mean_ > wake_cost) return is_trial(wake_cost) ? std::min(2 * wake_cost, most) : Duration::zero();
    return std::min(mean_ + 4 * deviation_, bound);
  }

  // Records that the event came `gap` after the wait began, whether the waiter spun or slept.
  void waited(Duration gap, Duration wake_cost) noexcept {
    ++waits_;
    const Duration sample = std::clamp(gap, Duration::zero(), 4 * wake_cost);
    if (!std::exchange(learnt_, true)) {
      mean_ = sample;
      deviation_ = sample / 2;
      return;
    }
    const Duration off = sample > mean_ ? sample - mean_ : mean_ - sample;
    deviation_ += (off - deviation_) / 4;
    mean_ += (sample - mean_) / 8;
  }

  // Records that a spinning waiter yielded its core and got it back after `taken`.
  void yielded(Duration taken) noexcept { shares_core_ = taken > shortest_turn; }
  // Returns whether another thread ran during the last yield. That thread may produce the event, so the next spin
  // yields at once.
  bool shares_core() const noexcept { return shares_core_; }

 private:
  static constexpr std::chrono::microseconds shortest_turn{1};  // a yield to no other thread takes less

  bool is_trial(Duration wake_cost) const noexcept { return mean_ < 3 * wake_cost && waits_ >= 240; }

  bool learnt_ = false;
  bool shares_core_ = false;
  std::uint8_t waits_ = 0;  // wraps
  Duration mean_{};
  Duration deviation_{};
};

}  // namespace corelane::os
