// work(): a synthetic job for examples and experiments. Its demand is a number of calibrated iterations, never CPU
// time: on a virtual machine a thread's CPU clock goes on while the host runs something else.
//
// Threads: any; calibrate() once before time counts, on an idle machine.
#pragma once

#include <cstdint>

#include "orb/base/time.h"
#include "orb/rt/gap_log.h"

namespace corelane::rt {

// Jumps of the clock between two iterations that are longer than this count as gaps.
inline constexpr Duration shortest_gap = std::chrono::microseconds{20};

struct WorkReport {
  std::uint64_t iterations = 0;
  Duration elapsed{};    // by the monotonic clock
  Duration external{};   // gaps without a context switch: the host or an interrupt
  Duration preempted{};  // gaps with one: other threads of this machine
  Duration longest_external{};
};

// Iterations that take one millisecond here when nothing disturbs them: the best of many short samples, taken at the
// first call (about 50 ms) and kept. At least 1.
std::uint64_t iterations_per_millisecond() noexcept;
inline void calibrate() noexcept { iterations_per_millisecond(); }

// Computes for as long as `demand` takes undisturbed, reads the clock about every microsecond, and records each gap.
// Allocates nothing; one system call (getrusage) at the start and one for each gap. `log` may be null.
WorkReport work(Duration demand, GapLog* log = nullptr) noexcept;

}  // namespace corelane::rt
