// Bounds of chains of tasks from end to end.
// Threads: pure functions. Allocates.
#pragma once

#include <vector>

#include "orb/eval/plan.h"

namespace corelane::eval {

// Returns a verdict for each chain of the request. The tasks of `plan` have their answers.
std::vector<ChainVerdict> chain_verdicts(const PlanRequest& request, const Plan& plan);

}  // namespace corelane::eval
