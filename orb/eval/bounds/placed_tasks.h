// The admitted tasks of a plan on their cores, for two analyses: that of chains, and that of tasks of high criticality.
// The Manager does not make these analyses. The terms are those of the Manager: see
// orb/sched/admission/core_task_set.h.
//
// Threads: values; pure functions. Allocates.
//
// The folder orb/eval/bounds computes the bounds of chains and of tasks of high criticality. They depend on the cores
// on which the tasks of a plan were placed.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "orb/eval/plan.h"
#include "orb/sched/response_time.h"
#include "orb/sched/ticks.h"

namespace corelane::eval {

struct PlacedTask {
  std::size_t task = 0;  // its index in the plan
  int core = 0;
  int priority = 0;             // a larger one is more urgent; tasks of one priority delay each other
  sched::Ticks budget = 0;      // C, with what the task's thread spins
  sched::Ticks suspension = 0;  // S
  sched::Ticks overshoot = 0;   // what a job that is demoted inside a section may execute beyond C
  sched::Ticks jitter = 0;      // J
  sched::Ticks blocking = 0;    // B, by the platform and by resources
  // The release jitter with which the task delays others. It is more than J if the task suspends itself.
  sched::Ticks interfering_jitter = 0;
};

struct PlacedSet {
  std::vector<PlacedTask> tasks;
  std::map<int, std::vector<sched::Interference>> loads;  // at higher priorities than all tasks, by core
};

// Returns whether a server has placed all admitted tasks, on cores that it schedules by priorities.
bool has_priorities(const Plan& plan);

// Returns the admitted tasks. Call it only if has_priorities().
PlacedSet placed_set(const PlanRequest& request, const Plan& plan);

}  // namespace corelane::eval
