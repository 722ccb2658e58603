// Runs several functions at the same time, each on a thread of its own that is bound to a core. Measurements between
// threads begin only if all of their threads could be started.
// Threads: the caller waits until all functions have returned.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "orb/base/expected.h"
#include "orb/base/ids.h"
#include "orb/base/time.h"
#include "orb/os/unique_function.h"

namespace corelane::tool {

// The SCHED_FIFO level of measuring threads. It is the manager's: above tasks, below threads of interrupts.
inline constexpr int measuring_level = 49;

struct PlacedFunction {
  CoreId core;
  os::UniqueFunction<void()> run;
  int fifo_priority = measuring_level;  // 0: an ordinary thread
};

// A measurement that could not be made, with the reason as a sentence.
struct NotMeasured {
  std::string why;
};

// The samples of one cost, in the order in which they were taken.
using CostSamples = Expected<std::vector<Duration>, NotMeasured>;

// If a thread cannot be started, no function runs. If the system refuses SCHED_FIFO, the thread is an ordinary one.
Expected<void, NotMeasured> run_together(std::vector<PlacedFunction> functions);

}  // namespace corelane::tool
