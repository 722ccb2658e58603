// measure_platform() measures what the platform takes of each core. It measures how late a thread of high priority
// wakes. It also measures how much of a busy thread's time interrupts, the kernel and the host take. The settings
// platform.* give this to the analysis.
//
// Threads: one for each measurement, bound to its core; the caller waits.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "orb/base/ids.h"
#include "orb/base/time.h"

namespace corelane::tool {

struct CoreLoad {
  CoreId core;
  bool real_time = false;  // measured under SCHED_FIFO; otherwise the times include other programs
  Duration wake_p50{}, wake_p99{}, wake_max{};
  double taken = 0;          // the part of a busy thread's time that something other than a thread took
  Duration longest_taken{};  // at one time
};

// Measures every core that this process may use, one after the other, about 0.3 s each.
std::vector<CoreLoad> measure_platform();

// The settings for corelane.toml that the measurement suggests.
struct PlatformSettings {
  Duration blocking{};  // platform.blocking
  Duration budget{};    // platform.budget, of each `period`
  Duration period = std::chrono::milliseconds{1};
};
PlatformSettings suggest(const std::vector<CoreLoad>& loads);

// Returns why the host was too busy to be measured, one text for each sign; none if it was quiet. `average`: how
// many threads wanted to run in the minute before the measurement; nothing: unknown. Pure.
std::vector<std::string> signs_of_busy_host(const std::vector<CoreLoad>& loads, std::optional<double> average);

// Returns the load average of the last minute.
std::optional<double> load_average();

}  // namespace corelane::tool
