// Time is a point on a monotonic clock, in integer nanoseconds. The clock may be real (os::now(), CLOCK_MONOTONIC) or
// virtual (the simulator's). So this header has no now(): pure code receives the time as a value.
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

// Later than every instant that occurs. It means "no deadline".
inline constexpr Time never = Time::max();

}  // namespace corelane
