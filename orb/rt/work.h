// work() is a synthetic job for examples and experiments. Its demand is a number of calibrated iterations and not CPU
// time. On a virtual machine, a thread's CPU clock runs on while the host runs something else.
//
// Threads: any. Call calibrate() once on an idle machine before time counts.
#pragma once

#include <algorithm>
#include <cstdint>

#include "orb/base/time.h"
#include "orb/rt/gap_log.h"

namespace corelane::rt {

// A jump of the clock between two iterations that is longer than this counts as a gap.
inline constexpr Duration shortest_gap = std::chrono::microseconds{20};

struct WorkReport {
  std::uint64_t iterations = 0;
  Duration elapsed{};    // by the monotonic clock
  Duration external{};   // gaps, or parts of gaps, taken by the host or an interrupt
  Duration preempted{};  // the rest of the gaps: taken by other threads of this machine
  Duration longest_external{};
  std::uint64_t unswitched_gaps = 0;  // gaps during which the thread kept its core: no other thread explains them
  Duration longest_unswitched{};      // the longest of these
};

// Returns how many undisturbed iterations take one millisecond: the best of many short samples, taken at the first call
// (about 50 ms) and kept. At least 1.
std::uint64_t iterations_per_millisecond() noexcept;
inline void calibrate() noexcept { iterations_per_millisecond(); }

// Returns how much of a gap of `length`, in which the thread was switched out, other threads had. `off_core`: how long
// the thread was off its core since the last such gap, by its CPU clock. A thread that switches it out when the host
// returns the core has little of the gap. If the host's share would be too short to be a gap, it counts as the other
// threads', too.
constexpr Duration preempted_part(Duration length, Duration off_core) noexcept {
  const Duration others = std::clamp(off_core, Duration::zero(), length);
  return length - others > shortest_gap ? others : length;
}

// Computes for as long as `demand` takes undisturbed, reads the clock about every microsecond, and records each gap. A
// gap that other threads shared is recorded as two, the machine's first, although the order is unknown. So for jobs of
// these other threads, the log may excuse too much, by at most that gap. Allocates nothing. Two system calls at the
// start, and up to two for each gap. `log` may be null.
WorkReport work(Duration demand, GapLog* log = nullptr) noexcept;

}  // namespace corelane::rt
