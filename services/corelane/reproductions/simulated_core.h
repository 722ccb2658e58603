// The virtual core on which experiments run.
// Threads: a constant and a pure function.
#pragma once

#include "orb/base/ids.h"
#include "orb/sched/manager.h"

namespace corelane::tool::reproductions {

inline constexpr CoreId simulated_core{0};

// Returns the options of a simulator with this core alone, which may be used whole.
inline sched::ManagerOptions one_simulated_core() {
  sched::ManagerOptions options;
  options.cores.push_back({.id = simulated_core, .capacity = sched::whole_core});
  return options;
}

}  // namespace corelane::tool::reproductions
