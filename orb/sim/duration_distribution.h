// DurationDistribution is a random time: an execution time, or the cost of a context switch. It is constant, or it is
// given by its quantiles.
//
// Threads: values. of_quantiles() and copies allocate; at() does not.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <vector>

#include "orb/base/time.h"

namespace corelane::sim {

// No value is longer than this: integers of 64 bits suffice to interpolate.
inline constexpr Duration longest_random_time = std::chrono::seconds{2};

class DurationDistribution {
 public:
  // Is always zero.
  DurationDistribution() = default;
  // Is always `constant`, which may be of any length. Negative times count as zero. The conversion is implicit, so that
  // a program can write `.dispatch = 5us`.
  template <typename Rep, typename Period>
  DurationDistribution(std::chrono::duration<Rep, Period> constant)
      : constant_(std::max<Duration>(constant, Duration::zero())) {}

  // Takes the values at equally spaced probabilities, from 0 to 1. Between two of them the distribution is uniform. So
  // {least, most} is uniform, {min, median, max} has two pieces, and many measurements give their own distribution. The
  // order of the values does not matter. Values outside of [0, longest_random_time] count as the nearest one inside.
  // Without values the result is zero.
  static DurationDistribution of_quantiles(std::vector<Duration> values);

  Duration least() const { return quantiles_.empty() ? constant_ : quantiles_.front(); }
  Duration most() const { return quantiles_.empty() ? constant_ : quantiles_.back(); }
  bool is_constant() const { return quantiles_.empty(); }

  // Returns the value with the probability fraction / 2^64 below it. Takes a uniform random number of 64 bits.
  Duration at(std::uint64_t fraction) const { return quantiles_.empty() ? constant_ : interpolated(fraction); }

  friend bool operator==(const DurationDistribution&, const DurationDistribution&) = default;

 private:
  Duration interpolated(std::uint64_t fraction) const;

  Duration constant_{};
  std::vector<Duration> quantiles_{};  // ascending; none, or at least two
};

}  // namespace corelane::sim
