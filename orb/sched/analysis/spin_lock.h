// Response times with resources that tasks of several cores share, under MSRP (Gai, Lipari & Di Natale 2001). A task
// that finds such a resource locked spins until it gets it, in the order of arrival. It is not preempted while it spins
// or while it holds the resource. So each request costs its core at most the longest section of the resource on every
// other core. A task is blocked once, by the spinning and the section of one less urgent task of its core.
//
// Threads: pure functions. Not for real-time threads (they allocate).
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
  Ticks longest = 0;         // execution time of the longest section
  std::int64_t per_job = 1;  // number of requests per job
};

struct SpinningTask {
  int core = 0;
  Ticks budget = 0;  // C with sections, without spinning
  Ticks period = 1;  // T
  std::vector<SpinRequest> requests{};
  Ticks jitter = 0;    // J
  Ticks blocking = 0;  // by something else than resources, such as the platform
};

// Returns how long one request of a task on `core` may spin: the sum over the other cores of the longest section there.
Ticks spin_time(std::span<const SpinningTask> tasks, int core, ResourceId resource);

// Returns C': the budget with all the spinning of a job.
Ticks spinning_budget(std::span<const SpinningTask> tasks, const SpinningTask& task);

// Returns the response of each task. `tasks` are sorted by descending priority.
std::vector<Response> spin_responses(std::span<const SpinningTask> tasks, const Limits& limits = {});

}  // namespace corelane::sched
