// Response times of global fixed-priority scheduling on m identical cores, after Bertogna & Cirinei 2007. The bound is
// sufficient. It serves to compare with partitioned placement, which the Manager uses.
//
// Threads: pure functions.
#pragma once

#include <span>

#include "orb/sched/admission_test.h"
#include "orb/sched/ticks.h"

namespace corelane::sched {

// Fills responses[i] for tasks in descending priority. Returns false at the first task that may miss its deadline;
// later responses are not written. Both spans have the same length, and cores >= 1. Jobs may come at any tick, so in
// small ticks a bound may be longer than in large ones. Bound for a task: some steps for each job of the tasks above it
// within D, each over these tasks.
bool global_response_times(std::span<const SporadicTask> tasks, int cores, std::span<Ticks> responses) noexcept;

}  // namespace corelane::sched
