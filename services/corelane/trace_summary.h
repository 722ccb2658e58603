// What a recorded run was about, in numbers: all of it, and of each task in which something went wrong what did.
// Threads: pure. Allocates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "orb/base/ids.h"
#include "orb/base/time.h"
#include "orb/sched/trace_file.h"

namespace corelane::tool {

// Jobs of one task that did not go as its contract says.
struct TaskTrouble {
  std::string name{};          // "" where the trace does not have it
  std::size_t misses = 0;      // ended after their deadline
  std::size_t own_misses = 0;  // of those, jobs that overran, overslept or blocked
  std::size_t overruns = 0;    // used more than their budget
  std::size_t oversleeps = 0;  // suspended themselves for longer than S
  std::size_t blocks = 0;      // waited without saying so
  std::size_t refused = 0;     // turned away: mostly, while one waited
};

struct TraceSummary {
  std::size_t admitted = 0, started = 0, finished = 0;  // tasks; jobs
  std::size_t misses = 0, overruns = 0, oversleeps = 0, blocks = 0;
  std::size_t refusals = 0;  // of newcomers and of jobs
  std::uint64_t lost = 0;    // slots that were overwritten
  Time first = never;        // never: the trace tells of no instant
  Time last{};
  std::map<TaskId, TaskTrouble> troubles;
};

TraceSummary summary_of(const sched::TraceFile& trace);

// "missed 2 deadlines, overran 1 time": what is not zero.
std::string text_of(const TaskTrouble& trouble);

}  // namespace corelane::tool
