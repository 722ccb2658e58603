// ReopenPause: when a connection that was lost is opened anew: a second after the last attempt, then after twice as
// long, a minute at most; after a connection that lasted a minute as at first. Pure.
// Threads: one at a time.
#pragma once

#include <algorithm>
#include <chrono>
#include <utility>

#include "orb/base/time.h"

namespace corelane::core {

class ReopenPause {
 public:
  static constexpr Duration first = std::chrono::seconds{1}, longest = std::chrono::minutes{1};

  // The very first attempt begins.
  void begin(Time now) noexcept { tried_at_ = now; }
  // There is no connection at `now`; the first time after opened() that tells how long it lasted.
  void lost(Time now) noexcept {
    if (std::exchange(was_opened_, false) && now - tried_at_ >= longest) pause_ = first;
  }
  // When to try again.
  Time due() const noexcept { return tried_at_ + pause_; }
  // Another attempt begins.
  void tried(Time now) noexcept {
    tried_at_ = now;
    pause_ = std::min(2 * pause_, longest);
  }
  // It has succeeded.
  void opened() noexcept { was_opened_ = true; }

 private:
  Time tried_at_{};
  Duration pause_ = first;
  bool was_opened_ = false;
};

}  // namespace corelane::core
