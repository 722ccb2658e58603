// BackOff: when to try something again that others keep from us: soon at first, then less and less often.
// Threads: owned by one.
#pragma once

#include <algorithm>

#include "orb/base/time.h"

namespace corelane::dispatch {

class BackOff {
 public:
  BackOff(Duration shortest, Duration longest) : shortest_(shortest), longest_(longest), wait_(shortest) {}

  Time at() const noexcept { return at_; }
  bool is_due(Time now) const noexcept { return now >= at_; }
  // The next try is at `at`, and the waits are short again.
  void start(Time at) noexcept {
    at_ = at;
    wait_ = shortest_;
  }
  void failed(Time now) noexcept {
    at_ = now + wait_;
    wait_ = std::min(2 * wait_, longest_);
  }

 private:
  const Duration shortest_, longest_;
  Duration wait_;
  Time at_{};
};

}  // namespace corelane::dispatch
