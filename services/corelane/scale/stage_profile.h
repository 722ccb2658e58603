// Makes a profile of the stages that the jobs of admitted tasks pass through, from a recorded run.
// Threads: pure. Allocates.
#pragma once

#include <vector>

#include "orb/scale/function_scalability.h"
#include "orb/sched/trace/trace_file.h"

namespace corelane::tool {

// Returns the mean times of a job in nanoseconds, three for each task with a job that ran from its arrival to its end:
//   "LABEL: waits to begin"           from the arrival to the first instruction
//   "LABEL: executes"                 execution time
//   "LABEL: is preempted or waits"    the rest, from the first instruction to the end
// Tasks with one label count as one.
std::vector<scale::FunctionTime> stage_profile(const sched::TraceFile& trace);

}  // namespace corelane::tool
