// Admitter decides about tasks that ask for admission one after the other, by the policies of a plan. Each task that it
// admits counts for those that ask later.
//
// Threads: owned by one thread at a time. Allocates.
#pragma once

#include <memory>
#include <span>

#include "orb/base/ids.h"
#include "orb/eval/plan.h"
#include "orb/eval/task_set.h"

namespace corelane::eval {

class Admitter {
 public:
  virtual ~Admitter() = default;
  // Returns whether the task is admitted.
  virtual bool admits(const Task& task) = 0;
  // Removes all tasks.
  virtual void clear() = 0;
};

// Returns an Admitter without tasks by the policies of the request, except custom ones: a server that is idle, a
// WholeSet, or a SpinPlacement. The request must outlive it.
std::unique_ptr<Admitter> admitter_for(const PlanRequest& request, std::span<const CoreId> cores);

}  // namespace corelane::eval
