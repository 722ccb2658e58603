// Global fixed-priority scheduling on m identical cores: response times after Bertogna & Cirinei 2007. A sufficient
// bound; for comparisons with partitioned placement, which is what the Manager does.
//
// Threads: pure functions.
#pragma once

#include <span>

#include "orb/sched/ticks.h"

namespace corelane::sched {

struct GlobalTask {
  Ticks budget = 0;    // C > 0
  Ticks period = 1;    // T > 0
  Ticks deadline = 1;  // D <= T
};

// Fills responses[i] for tasks in descending priority; false at the first that may miss its deadline (the rest is not
// written). At most D iterations per task, each over the tasks above it. cores >= 1; spans of one length.
bool global_response_times(std::span<const GlobalTask> tasks, int cores, std::span<Ticks> responses) noexcept;

}  // namespace corelane::sched
