// run_virtually() runs a set of tasks in virtual time. Under the dispatchers of the Manager it executes the server's
// own code: Manager and CoreSchedulers on virtual cores. The platform load runs above all tasks, as the analysis
// assumes it. RunRequest::overheads says what else costs time. Under the Manager each job is longer by all that an
// analysis would charge for it. Under the other dispatchers the MulticoreSimulator charges each occurrence.
//
// All tasks ask for admission before the run starts, one after the other. Their jobs come as JobSequence says. Each
// comes late by a random time of at most its jitter. A task suspends itself in the middle of a job, and locks its first
// resource there.
//
// Under a dispatcher that refuses tasks, the admission test may be one for global scheduling, and the allocation may
// cut tasks, or they are CustomPolicies. Then the MulticoreSimulator runs the tasks that are admitted, as these
// policies schedule them.
//
// Threads: pure functions. They allocate.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "orb/eval/run.h"
#include "orb/eval/scenario.h"
#include "orb/sim/multicore_simulator.h"

namespace corelane::eval {

// Returns the results of the run. The same request has the same results on every machine. The observer, which may be
// null, learns of the jobs of tasks, with times from the start of the run.
RunOutcome run_virtually(const RunRequest& request, sim::JobObserver* observer = nullptr);

// Does the same, and asks `is_to_stop` after each few thousand steps. Once it returns true, the run ends, and the
// result is nothing.
std::optional<RunOutcome> run_virtually(const RunRequest& request, sim::JobObserver* observer,
                                        const std::function<bool()>& is_to_stop);

// Returns RunRequest::seed for a set of the scenario. It is the same under all dispatchers.
std::uint64_t run_seed(const Scenario& scenario, std::int64_t set);

}  // namespace corelane::eval
