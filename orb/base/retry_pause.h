// RetryPause computes when to try again after a failure: one second after the first one, then after two, four and eight
// seconds. The pauses stay short, because the cause may end at any time. Pure.
// Threads: one at a time.
#pragma once

#include <algorithm>
#include <chrono>

#include "orb/base/time.h"

namespace corelane {

class RetryPause {
 public:
  static constexpr Duration first = std::chrono::seconds{1}, longest = std::chrono::seconds{8};

  // Returns when to try again; the beginning of time if nothing has failed.
  Time due() const noexcept { return due_; }
  // Notes a failure. Returns whether it is the first one since the start or since succeeded().
  bool failed(Time now) noexcept {
    const bool is_first = pause_ == Duration::zero();
    pause_ = is_first ? first : std::min(2 * pause_, longest);
    due_ = now + pause_;
    return is_first;
  }
  void succeeded() noexcept { *this = {}; }

 private:
  Time due_{};
  Duration pause_{};
};

}  // namespace corelane
