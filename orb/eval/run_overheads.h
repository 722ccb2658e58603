// RunOverheads is what the platform costs in a plan or a run, beside the execution of jobs. The analysis charges it by
// longer budgets. A virtual run under the Manager makes each job longer by the same time. The MulticoreSimulator
// charges each occurrence.
//
// Threads: values; pure functions. They allocate.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "orb/base/time.h"
#include "orb/dispatch/executive.h"
#include "orb/eval/scenario.h"
#include "orb/eval/task_set.h"
#include "orb/sim/overheads.h"

namespace corelane::eval {

struct RunOverheads {
  sim::Overheads costs{};  // constants
  Duration blocking{};     // how late a thread may wake. The analysis charges it; it is not simulated
  bool charged = true;     // whether the analysis charges anything

  // What each job is longer: release, hop, preemption and twice dispatch, since the preempted job is dispatched again.
  // Whole microseconds, rounded up.
  Duration per_job() const;
  // What the analysis adds to each budget.
  Duration charge_per_job() const { return charged ? per_job() : Duration::zero(); }
};

// Returns the overheads of a set of so many tasks.
RunOverheads run_overheads(const Scenario& scenario, std::size_t tasks);

// Returns the overheads in this mode. Only `manager` hands jobs to other threads.
RunOverheads overheads_in(dispatch::DispatchMode mode, RunOverheads overheads);

// Add what the analysis charges, to the budgets and to the platform's blocking.
void charge(const RunOverheads& overheads, std::vector<Task>& tasks);
void charge(const RunOverheads& overheads, dispatch::ExecutiveOptions& server);

// Returns which overheads the analysis charges, and which it does not: "overheads charged by the analysis: hop 20us,
// dispatch 3us twice; 26us on top of each budget". "": nothing costs anything.
std::string text_of(const RunOverheads& overheads);

}  // namespace corelane::eval
