// finish_times() answers when recorded jobs would have ended on a machine that takes no time from them. The jobs come
// when they came, compute for as long as it takes undisturbed, and have the same priorities. A simulator runs them
// (orb/sim/multicore_simulator.h).
//
// Threads: pure functions. Allocates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "orb/base/ids.h"
#include "orb/base/time.h"

namespace corelane::tool {

struct ReplayedJob {
  std::size_t task = 0;  // jobs of one task run one after the other
  Duration release{};    // from the start of the run
  Duration execution{};
  Priority priority{};    // higher runs first; the same for all jobs of a task
  CoreId core = no_core;  // where it ran
};

// Where the jobs may run.
enum class ReplayCores : std::uint8_t {
  own,  // each on the core where it ran
  any,  // on any of the cores where jobs ran: the most urgent jobs run at each instant
};

// Returns the end of each job, in the order of `jobs`, from the start of the run. Jobs of one task that ran on one core
// are in the order of their releases.
std::vector<Duration> finish_times(std::span<const ReplayedJob> jobs, ReplayCores cores);

}  // namespace corelane::tool
