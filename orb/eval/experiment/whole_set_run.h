// Runs tasks under policies that no Manager has: global scheduling, tasks that are cut, and CustomPolicies
// (orb/eval/planning/whole_set.h).
// Threads: pure functions. They allocate.
#pragma once

#include <functional>

#include "orb/eval/planning/whole_set.h"
#include "orb/eval/run.h"
#include "orb/sim/multicore_simulator.h"

namespace corelane::eval {

// Runs the tasks that the set admits. `set` is empty, and that of the request's policies. Fills in the outcome, which
// has the labels already. The observer may be null. Returns false if the run ended early, because `is_to_stop` returned
// true. It may be empty.
bool run_whole_set(const RunRequest& request, WholeSet& set, sim::JobObserver* observer,
                   const std::function<bool()>& is_to_stop, RunOutcome& outcome);

}  // namespace corelane::eval
