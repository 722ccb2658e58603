// BackOff says when to retry an operation that other processes or threads prevent. The waits start short and double up
// to a maximum.
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
  // Sets the time of the next try, and makes the waits short again.
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
