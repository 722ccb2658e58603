// The baseline that MC-ORB was compared with: nORB, in which threads of a leader/followers pool run the tasks (Zhang,
// Gill & Lu, RTCSA 2009). It admits every task. Its three forms are policies of the MulticoreSimulator:
//
//   unbound      the threads run on any core: global fixed priorities, close to what Linux does today
//   pinned       each thread is bound to a core when its task comes, in turn by count: the behavior of 2009
//   single_core  all threads share one core
//
// The leader runs the task itself, so there is no hand-off: leave Overheads::hop zero. An unbound thread may migrate.
//
// Threads: pure functions.
#pragma once

#include <cstdint>
#include <span>

#include "orb/sim/multicore_simulator.h"

namespace corelane::sim {

enum class LeaderFollowersForm : std::uint8_t { unbound, pinned, single_core };

// Sets the cluster and the order of `options`, and the core of each task. `tasks` are in the order in which they came,
// with their priorities; parts are removed. options.cores is the number of the machine's cores.
void use_leader_followers(LeaderFollowersForm form, MulticoreOptions& options, std::span<MulticoreTask> tasks);

}  // namespace corelane::sim
