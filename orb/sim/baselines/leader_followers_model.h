// The baseline that MC-ORB was compared with: nORB, in which threads of a leader/followers pool run the tasks (Zhang,
// Gill & Lu, RTCSA 2009). It admits every task. Its forms are policies of the MulticoreSimulator:
//
//   unbound      the threads run on any core: global fixed priorities, close to what Linux does today
//   pinned       each thread is bound to a core when its task comes, in turn by count: the behavior of 2009
//   single_core  all threads share one core
//   allocated    each task was allocated to a core. The thread that reads a job moves there before it runs the job
//
// The leader runs the task itself, so there is no hand-off: leave Overheads::hop zero. An unbound thread may migrate.
// Under `allocated`, set Overheads::hop to the cost of a migration: each job is charged one when it begins, although a
// leader that is already on the core of the task does not migrate.
//
// Threads: pure functions.
//
// The folder orb/sim/baselines has models of earlier systems, to compare with.
#pragma once

#include <cstdint>
#include <span>

#include "orb/sim/multicore_simulator.h"

namespace corelane::sim {

enum class LeaderFollowersForm : std::uint8_t { unbound, pinned, single_core, allocated };

// Sets the cluster and the order of `options`, and the core of each task, which under `allocated` stays as it is.
// `tasks` are in the order in which they came, with their priorities; parts are removed. options.cores is the number of
// the machine's cores.
void use_leader_followers(LeaderFollowersForm form, MulticoreOptions& options, std::span<MulticoreTask> tasks);

}  // namespace corelane::sim
