// Neighbours: the analysis across processes. Priorities of different processes are not ordered among each other, so
// each process takes the others' tasks as interference above all of its own; and whoever wants to promise more first
// checks that the others' tasks still hold their deadlines with all of its own above them. What a process runs above
// its tasks (its platform load) counts for its own tasks and for everybody else's.
//
// Threads: pure functions. Units: nanoseconds inside the analysis.
#pragma once

#include <span>
#include <vector>

#include "orb/base/contract.h"
#include "orb/dispatch/core_provider.h"
#include "orb/sched/task.h"

namespace corelane::dispatch {

// What the promises of others on the physical core of `lease` are to our own tasks.
std::vector<sched::PlatformLoad> interference_on(const CoreLease& lease, std::span<const Promise> others);

// Whether every task that others promised on the physical core of `lease` holds its deadline when `ours` there run
// above it: our tasks, platform load and newcomer. Trivially so where others promised nothing.
bool others_hold(const CoreLease& lease, std::span<const Promise> others, std::span<const Promise> ours);

// Utilization of the promises on the physical core of `lease`, rounded up.
sched::Ppm promised_on(const CoreLease& lease, std::span<const Promise> promises);
// What of it is platform load.
sched::Ppm platform_on(const CoreLease& lease, std::span<const Promise> promises);

// The longest deadline among the tasks promised on the physical core of `lease`; zero when there are none.
Duration longest_deadline_on(const CoreLease& lease, std::span<const Promise> promises);

}  // namespace corelane::dispatch
