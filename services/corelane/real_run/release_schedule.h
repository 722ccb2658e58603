// The jobs that the clients of a real run send, and when. They are those of a simulation with the same source, so that
// real and simulated runs can be compared job by job.
//
// Threads: pure functions. Allocates.
#pragma once

#include <cstddef>
#include <vector>

#include "orb/base/time.h"
#include "orb/sim/job_source.h"
#include "services/corelane/real_run/planned_job.h"

namespace corelane::tool {

// Returns the jobs of the task that arrive before `length`. Their demands are shorter by `call_cost`, but not negative.
// The reason: the budget of a job also covers the cost of the call, in addition to the servant's work.
std::vector<PlannedJob> planned_jobs(sim::JobSource& source, std::size_t task, Duration length, Duration call_cost);

}  // namespace corelane::tool
