// TraceSummary summarizes a recorded run in numbers: the whole run, and each task that had trouble.
// Threads: pure. Allocates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "orb/base/ids.h"
#include "orb/base/time.h"
#include "orb/sched/trace/trace_file.h"

namespace corelane::tool {

// Jobs of one task that did not go as its contract says.
struct TaskTrouble {
  std::string name{};          // "" if the trace does not have it
  std::size_t misses = 0;      // ended after their deadline
  std::size_t own_misses = 0;  // of those, jobs that themselves overran, overslept or blocked
  std::size_t overruns = 0;    // used more than their budget
  std::size_t oversleeps = 0;  // suspended themselves for longer than S
  std::size_t blocks = 0;      // blocked without announcing it
  std::size_t refused = 0;     // refused, mostly because an earlier job was waiting
};

struct TraceSummary {
  std::size_t admitted = 0, started = 0, finished = 0;  // tasks; jobs
  std::size_t misses = 0, overruns = 0, oversleeps = 0, blocks = 0;
  std::size_t refusals = 0;  // of tasks and of jobs
  std::uint64_t lost = 0;    // overwritten slots
  Time first = never;        // never: the trace has no instant
  Time last{};
  std::map<TaskId, TaskTrouble> troubles;
};

TraceSummary summary_of(const sched::TraceFile& trace);

// Returns what is not zero: "missed 2 deadlines, overran 1 time".
std::string text_of(const TaskTrouble& trouble);

}  // namespace corelane::tool
