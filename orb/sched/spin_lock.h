// Resources that tasks of several cores share: MSRP (Gai, Lipari & Di Natale 2001). Who finds such a resource locked
// spins, in the order of arrival and without being preempted, until it is his; so does his section. Each request then
// costs its core the longest section of the resource on every other core at most, and a task is kept waiting once by
// what one less urgent task of its core spins and locks.
//
// Threads: pure functions. Not for real-time threads (allocates).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "orb/base/ids.h"
#include "orb/sched/response_time.h"
#include "orb/sched/ticks.h"

namespace corelane::sched {

struct SpinRequest {
  ResourceId resource = no_resource;
  Ticks longest = 0;         // the section, in execution time
  std::int64_t per_job = 1;  // how often one job asks for it
};

struct SpinningTask {
  int core = 0;
  Ticks budget = 0;  // C, sections included and spinning not
  Ticks period = 1;  // T
  std::vector<SpinRequest> requests{};
};

// What one request of a task on `core` may spin: the sum over the other cores of the longest section there.
Ticks spin_time(std::span<const SpinningTask> tasks, int core, ResourceId resource);

// The response of each task; `tasks` are by descending priority.
std::vector<Response> spin_responses(std::span<const SpinningTask> tasks, const Limits& limits = {});

}  // namespace corelane::sched
