// GapCount counts the gaps in which the machine took time from threads that computed. A gap is longer than 20 us, and
// the thread kept its core (orb/rt/work.h). If the program caused such gaps itself, they would come more often while it
// runs. So gaps excuse late jobs only if they come at most twice as often as on cores that do nothing else.
//
// Threads: values.
#pragma once

#include <chrono>
#include <cstdint>

#include "orb/base/time.h"

namespace corelane::tool {

struct GapCount {
  std::uint64_t gaps = 0;
  Duration watched{};  // for how long the threads computed, gaps included

  double per_second() const {
    const double seconds = std::chrono::duration<double>(watched).count();
    return seconds > 0 ? static_cast<double>(gaps) / seconds : 0;
  }
  GapCount& operator+=(const GapCount& other) {
    gaps += other.gaps;
    watched += other.watched;
    return *this;
  }
  friend bool operator==(const GapCount&, const GapCount&) = default;
};

// Returns whether gaps of runs are as rare as the control says, by a factor of two. One gap more proves nothing.
inline bool is_credible(const GapCount& runs, const GapCount& control) {
  const double expected = control.per_second() * std::chrono::duration<double>(runs.watched).count();
  return static_cast<double>(runs.gaps) <= 2 * expected + 1;
}

}  // namespace corelane::tool
