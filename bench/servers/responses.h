// How responses are reported: their spread, and whether they stayed within a bound.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "bench/servers/units.h"

namespace servers {

// p50, p99 and max, in us.
struct Spread {
  explicit Spread(std::vector<corelane::Duration> times) {
    std::sort(times.begin(), times.end());
    const auto at = [&](std::size_t percent) {
      return times.empty() ? 0.0 : microseconds(times[(times.size() - 1) * percent / 100]);
    };
    p50 = at(50), p99 = at(99), max = at(100);
  }
  double p50, p99, max;
};

// Without jobs, the bound counts as not held.
constexpr const char* verdict(std::size_t jobs, corelane::Duration longest, corelane::Duration bound) {
  if (jobs == 0) return "no jobs";
  return longest <= bound ? "held" : "EXCEEDED";
}

}  // namespace servers
