// work(): a synthetic job for examples and experiments. Its demand is a number of calibrated iterations, never CPU
// time: on a virtual machine a thread's CPU clock goes on while the host runs something else.
//
// Threads: any; calibrate() once before time counts, on an idle machine.
#pragma once

#include <algorithm>
#include <cstdint>

#include "orb/base/time.h"
#include "orb/rt/gap_log.h"

namespace corelane::rt {

// Jumps of the clock between two iterations that are longer than this count as gaps.
inline constexpr Duration shortest_gap = std::chrono::microseconds{20};

struct WorkReport {
  std::uint64_t iterations = 0;
  Duration elapsed{};    // by the monotonic clock
  Duration external{};   // gaps, or parts of them, that the host or an interrupt had
  Duration preempted{};  // the rest: other threads of this machine had it
  Duration longest_external{};
};

// Iterations that take one millisecond here when nothing disturbs them: the best of many short samples, taken at the
// first call (about 50 ms) and kept. At least 1.
std::uint64_t iterations_per_millisecond() noexcept;
inline void calibrate() noexcept { iterations_per_millisecond(); }

// How much of a gap of that length in which the thread was switched out other threads had. `off_core`: for how long it
// was not on its core since the last such gap, by its CPU clock. Whoever switches it out when the host gives the core
// back has little of the gap. What would be left for the host and is no gap by itself is theirs, too.
constexpr Duration preempted_part(Duration length, Duration off_core) noexcept {
  const Duration others = std::clamp(off_core, Duration::zero(), length);
  return length - others > shortest_gap ? others : length;
}

// Computes for as long as `demand` takes undisturbed, reads the clock about every microsecond, and records each gap.
// One of which others had a part is recorded as two, the machine's first, though nobody knows which was: about the jobs
// of those others the log may say too much, by no more than that gap. Allocates nothing; two system calls at the start
// and up to two for each gap. `log` may be null.
WorkReport work(Duration demand, GapLog* log = nullptr) noexcept;

}  // namespace corelane::rt
