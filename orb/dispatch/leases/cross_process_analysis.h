// These functions analyse tasks of different processes on one physical core. The priorities of different processes are
// not ordered among each other. So each process counts the others' tasks as interference above all its own. Before it
// promises more, it checks that the others' tasks still meet their deadlines with all its own tasks above them. What a
// process runs above its tasks (its platform load) counts for its own tasks and for those of all others.
//
// Threads: pure functions. Units: nanoseconds inside the analysis.
#pragma once

#include <span>
#include <vector>

#include "orb/base/contract.h"
#include "orb/dispatch/core_provider.h"
#include "orb/sched/task.h"

namespace corelane::dispatch {

// Returns the promises of others on the physical core of `lease` as interference to our own tasks.
std::vector<sched::PlatformLoad> interference_on(const CoreLease& lease, std::span<const Promise> others);

// Returns whether every task that others promised on the physical core of `lease` meets its deadline when `ours` there
// run above it. `ours`: our tasks, platform load and new task. True if others promised nothing.
bool others_hold(const CoreLease& lease, std::span<const Promise> others, std::span<const Promise> ours);

// Returns the utilization of the promises on the physical core of `lease`, rounded up.
sched::Ppm promised_on(const CoreLease& lease, std::span<const Promise> promises);
// Returns the part of it that is platform load.
sched::Ppm platform_on(const CoreLease& lease, std::span<const Promise> promises);

// Returns the longest deadline among the tasks promised on the physical core of `lease`; zero if there are none.
Duration longest_deadline_on(const CoreLease& lease, std::span<const Promise> promises);

}  // namespace corelane::dispatch
