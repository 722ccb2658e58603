// Gantt draws what each core ran in a stretch of a run, with one late job marked.
// Threads: pure functions. They allocate.
#pragma once

#include <string>
#include <vector>

#include "orb/base/ids.h"
#include "orb/base/time.h"
#include "orb/eval/run.h"
#include "orb/sim/multicore_simulator.h"

namespace corelane::eval {

struct Gantt {
  std::string title{};
  std::vector<CoreId> cores{};
  std::vector<std::string> tasks{};          // labels, by index
  std::vector<sim::ExecutedSlice> slices{};  // those outside of the stretch are left out
  JobRecord late{};                          // the stretch is chosen around this job
};

// Returns an SVG element.
std::string svg_of(const Gantt& gantt);

}  // namespace corelane::eval
