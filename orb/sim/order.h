// The order in which a simulated core, or a cluster of cores, runs its jobs.
// Threads: values.
#pragma once

#include <cstdint>

namespace corelane::sim {

// priority: the highest priority first, like SCHED_FIFO. deadline: the earliest deadline first, like SCHED_DEADLINE.
enum class Order : std::uint8_t { priority, deadline };

}  // namespace corelane::sim
