// Gantt draws what each core ran from the release of a late job until its end and its deadline.
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
  JobRecord late{};                          // the job that chooses the stretch
};

// Returns an SVG element.
std::string svg_of(const Gantt& gantt);

}  // namespace corelane::eval
