// Finds out which jobs are admitted if an admission test decides about single jobs, or reserves utilization for tasks.
// The middleware of Zhang, Gill & Lu 2008 does that (orb/sim/baselines/job_admission_simulator.h). The answer depends
// on when jobs come and end. So they run in virtual time: each job comes at its nominal release and executes for its
// budget.
//
// Threads: pure functions. Allocates.
#pragma once

#include "orb/eval/plan.h"

namespace corelane::eval {

// Fills in the tasks of the plan. request.jobs is a valid policy. A task is admitted if all of its jobs are.
// Without load balancing, the tasks are on the cores in turn.
void answer_by_jobs(const PlanRequest& request, Plan& plan);

}  // namespace corelane::eval
