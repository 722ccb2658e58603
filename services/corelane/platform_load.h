// What the platform takes of each core, measured: how late a thread of high priority wakes, and how much of the time of
// a busy one interrupts, the kernel and the host take. It is what the settings platform.* tell the analysis.
// Threads: one for each measurement, bound to its core; the caller waits.
#pragma once

#include <string>
#include <vector>

#include "orb/base/ids.h"
#include "orb/base/time.h"

namespace corelane::tool {

struct CoreLoad {
  CoreId core;
  bool real_time = false;  // measured under SCHED_FIFO; else other programs are in it
  Duration wake_p50{}, wake_p99{}, wake_max{};
  double taken = 0;          // of a busy thread's time, by something that is no thread
  Duration longest_taken{};  // at once
};

// Of every core that this process may use, one after the other, about 0.3 s each.
std::vector<CoreLoad> measure_platform();

// The settings for corelane.toml that the measurement suggests.
struct PlatformSettings {
  Duration blocking{};  // platform.blocking
  Duration budget{};    // platform.budget, of each `period`
  Duration period = std::chrono::milliseconds{1};
};
PlatformSettings suggest(const std::vector<CoreLoad>& loads);

}  // namespace corelane::tool
