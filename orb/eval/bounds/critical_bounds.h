// Bounds of tasks of high criticality after an overrun.
// Threads: pure functions. Allocates.
#pragma once

#include "orb/eval/plan.h"

namespace corelane::eval {

// Fills in TaskVerdict::high of all tasks of high criticality. The other answers of `plan` are known. A task that is
// refused does not hold, and none does if a core runs by deadlines, or no server has placed the tasks.
void bound_high_modes(const PlanRequest& request, Plan& plan);

}  // namespace corelane::eval
