// ReopenPause computes when to reopen a lost connection. Attempts follow one another after one second, then two, four
// and so on, up to a minute. After a connection that lasted a minute, the pauses begin again at one second. Pure.
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

  // The first attempt begins.
  void begin(Time now) noexcept { tried_at_ = now; }
  // There is no connection at `now`. The first call after opened() tells how long the connection lasted.
  void lost(Time now) noexcept {
    if (std::exchange(was_opened_, false) && now - tried_at_ >= longest) pause_ = first;
  }
  // Returns when to try again.
  Time due() const noexcept { return tried_at_ + pause_; }
  // Another attempt begins.
  void tried(Time now) noexcept {
    tried_at_ = now;
    pause_ = std::min(2 * pause_, longest);
  }
  // The attempt has succeeded.
  void opened() noexcept { was_opened_ = true; }

 private:
  Time tried_at_{};
  Duration pause_ = first;
  bool was_opened_ = false;
};

}  // namespace corelane::core
