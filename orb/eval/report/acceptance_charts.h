// The figures of a summary over its sweeps: the part of the tasks that is admitted, and the sets that miss a deadline.
// Threads: pure functions. They allocate.
#pragma once

#include <vector>

#include "orb/eval/report/chart.h"
#include "orb/eval/statistics/comparison.h"

namespace corelane::eval {

// The x axis is the last sweep that is not over a policy. Return a chart for each combination of the others, with a
// curve for each dispatcher and each combination of policies. Curves with the same points are drawn once. None if there
// is no such sweep, or if it has values that are neither numbers nor durations.
std::vector<Chart> miss_charts(const ExperimentSummary& summary);
std::vector<Chart> admission_charts(const ExperimentSummary& summary);

}  // namespace corelane::eval
