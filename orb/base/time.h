// Time: integer nanoseconds of one monotonic clock. The clock may be real (os::now(), CLOCK_MONOTONIC) or virtual (the
// simulator's), so this header has no now(): pure code receives time as a value.
#pragma once

#include <chrono>

namespace corelane {

using Duration = std::chrono::nanoseconds;

struct MonotonicClock {
  using duration = Duration;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<MonotonicClock>;
  static constexpr bool is_steady = true;
};

using Time = MonotonicClock::time_point;

// Later than every instant that occurs: "no deadline".
inline constexpr Time never = Time::max();

}  // namespace corelane
