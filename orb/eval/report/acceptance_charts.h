// The figures of a summary over its sweeps: the part of the tasks that is admitted, and the sets that miss a deadline.
// Threads: pure functions. They allocate.
#pragma once

#include <vector>

#include "orb/eval/report/chart.h"
#include "orb/eval/statistics/comparison.h"

namespace corelane::eval {

// Return a chart for each combination of all sweeps but the last, which is the x axis. None if there is no sweep, or
// the last one has values that are no numbers.
std::vector<Chart> miss_charts(const ExperimentSummary& summary);
std::vector<Chart> admission_charts(const ExperimentSummary& summary);

}  // namespace corelane::eval
