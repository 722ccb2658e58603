// AdaptiveSpin: how long a waiter should spin before it sleeps, learnt from how long it had to wait before.
//
// Spinning through a gap costs the gap in time of the core; sleeping through it costs a wake-up in latency. So a waiter
// spins where the event is expected sooner than a wake-up takes, for as long as it is expected, and sleeps at once
// where it is not. Never longer than a wake-up costs: then what it wastes at worst is what sleeping would have cost
// (the rent-or-buy rule, competitive ratio 2). Expected is mean plus four deviations, smoothed like the round trips of
// TCP (RFC 6298, 2.3). A gap counts as four wake-ups at most, so that one long pause is forgotten in about ten events.
//
// Of two that answer each other each may sleep because the other does: then an answer takes a wake-up and a little, and
// neither would learn that it need not. So who waits little longer than a wake-up takes spins that long all the same in
// 16 waits out of 256, which is a sixteenth of what sleeping costs him anyhow.
//
// Thread: the waiter's. Values; no clock.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <utility>

#include "orb/base/time.h"

namespace corelane::os {

class AdaptiveSpin {
 public:
  // For the next wait: at most `most` and at most `wake_cost`, or twice that on trial; zero: sleep at once. Without any
  // experience: the most.
  Duration budget(Duration wake_cost, Duration most) const noexcept {
    const Duration bound = std::min(wake_cost, most);
    if (!learnt_) return bound;
    if (mean_ > wake_cost) return is_trial(wake_cost) ? std::min(2 * wake_cost, most) : Duration::zero();
    return std::min(mean_ + 4 * deviation_, bound);
  }

  // How long after the wait's beginning the event came, whether the waiter spun or slept.
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

  // A waiter that spins let others have its core, and got it back after `taken`.
  void yielded(Duration taken) noexcept { shares_core_ = taken > shortest_turn; }
  // Whether another thread ran then. It may be the one that brings about the event: the next spin yields at once.
  bool shares_core() const noexcept { return shares_core_; }

 private:
  static constexpr std::chrono::microseconds shortest_turn{1};  // yielding to nobody takes less

  bool is_trial(Duration wake_cost) const noexcept { return mean_ < 3 * wake_cost && waits_ >= 240; }

  bool learnt_ = false;
  bool shares_core_ = false;
  std::uint8_t waits_ = 0;  // wraps
  Duration mean_{};
  Duration deviation_{};
};

}  // namespace corelane::os
