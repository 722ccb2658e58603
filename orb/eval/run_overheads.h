// The overheads of a plan or a run: where they come from, and where they are charged. The analysis charges them by
// longer budgets. A virtual run under the Manager makes each job longer by the same time. The MulticoreSimulator
// charges each occurrence.
//
// Threads: pure functions. They allocate.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "orb/dispatch/executive.h"
#include "orb/eval/measured_overheads.h"
#include "orb/eval/scenario.h"
#include "orb/eval/task_set.h"

namespace corelane::eval {

// Returns the overheads of a set of so many tasks: what the scenario names in `from`, with the costs that it replaces.
RunOverheads run_overheads(const Scenario& scenario, std::size_t tasks);

// Returns the overheads in this mode. Only `manager` hands jobs to other threads.
RunOverheads overheads_in(dispatch::DispatchMode mode, RunOverheads overheads);

// Add what the analysis charges, to the budgets and to the platform's blocking.
void charge(const RunOverheads& overheads, std::vector<Task>& tasks);
void charge(const RunOverheads& overheads, dispatch::ExecutiveOptions& server);

// Returns a text that says which overheads the analysis charges, and which it does not: "overheads charged by the
// analysis: hop 20us, dispatch 3us twice; 26us on top of each budget". "": all overheads are zero.
std::string text_of(const RunOverheads& overheads);

}  // namespace corelane::eval
