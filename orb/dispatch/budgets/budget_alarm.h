// BudgetAlarm wakes a core's pool when the job that it watches may have used up its budget. It is a timer of real time:
// a job cannot have executed for longer than that. The kernel's timers of CPU time fire only at its tick, milliseconds
// late.
//
// Threads: under the lock of the pool or server that sets it. Does not block.
#pragma once

#include "orb/base/time.h"

namespace corelane::dispatch {

class BudgetAlarm {
 public:
  virtual ~BudgetAlarm() = default;
  // Sets the time at which CorePool::check_budget() or AperiodicServer::check() is called; `never`: it is not called.
  // Replaces the time that was set.
  virtual void set(Time at) noexcept = 0;
};

}  // namespace corelane::dispatch
