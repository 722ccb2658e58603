// What experiments share that run on a core of this host: pieces of work of equal size, and the pause between runs.
// Threads: pure functions and constants.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "orb/base/ids.h"
#include "orb/base/time.h"

namespace corelane::tool::reproductions {

// Before each run SCHED_OTHER has the core for so long. Otherwise the kernel takes 5 % of each second for it from the
// threads of the run.
inline constexpr Duration time_for_others = std::chrono::milliseconds{100};

// Computes for about ten microseconds. The compiler cannot leave it out.
inline void work_a_piece() noexcept {
  std::uint32_t state = 1;
  for (int step = 0; step < 8'000; ++step) {
    state = state * 1664525U + 1013904223U;
    asm volatile("" : "+r"(state));
  }
}

// Returns the error for a thread of a core that could not be made.
inline std::string no_thread_for(CoreId core) {
  return "there is no thread left for core " + std::to_string(core.value) + "; end other programs";
}

}  // namespace corelane::tool::reproductions
