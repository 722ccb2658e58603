// Admitter decides about tasks that ask for admission one after the other, by the policies of a plan. Each task that it
// admits counts for those that ask later.
//
// Threads: owned by one thread at a time. Allocates.
#pragma once

#include <memory>
#include <span>

#include "orb/base/ids.h"
#include "orb/dispatch/executive.h"
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

// Returns an Admitter without tasks: a server that is idle, a WholeSet if its policies need one, or a SpinPlacement for
// `spin_locks`. `server` must outlive it.
std::unique_ptr<Admitter> admitter_for(const dispatch::ExecutiveOptions& server, std::span<const CoreId> cores,
                                       bool spin_locks);

}  // namespace corelane::eval
