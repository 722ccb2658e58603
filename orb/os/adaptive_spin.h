// AdaptiveSpin: how long a waiter should spin before it sleeps, learnt from how long it had to wait before.
//
// Spinning through a gap costs the gap in time of the core; sleeping through it costs a wake-up in latency. So a waiter
// spins where the event is expected sooner than a wake-up takes, for as long as it is expected, and sleeps at once
// where it is not. Never longer than a wake-up costs: then what it wastes at worst is what sleeping would have cost
// (the rent-or-buy rule, competitive ratio 2). Expected is mean plus four deviations, smoothed like the round trips of
// TCP (RFC 6298, 2.3). A gap counts as four wake-ups at most, so that one long pause is forgotten in about ten events.
//
// Thread: the waiter's. Values; no clock.
#pragma once

#include <algorithm>
#include <utility>

#include "orb/base/time.h"

namespace corelane::os {

class AdaptiveSpin {
 public:
  // For the next wait: at most `most` and at most `wake_cost`; zero: sleep at once. Without any experience: the most.
  Duration budget(Duration wake_cost, Duration most) const noexcept {
    const Duration bound = std::min(wake_cost, most);
    if (!learnt_) return bound;
    if (mean_ > wake_cost) return Duration::zero();
    return std::min(mean_ + 4 * deviation_, bound);
  }

  // How long after the wait's beginning the event came, whether the waiter spun or slept.
  void waited(Duration gap, Duration wake_cost) noexcept {
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

 private:
  bool learnt_ = false;
  Duration mean_{};
  Duration deviation_{};
};

}  // namespace corelane::os
