// BudgetAlarm: when one core's pool is to look whether the job that it watches has used up its budget. A CPU-time timer
// of the kernel fires at its tick, milliseconds late, so the alarm is one of real time: a job cannot have used more.
//
// Threads: under the pool's lock. Does not block.
#pragma once

#include "orb/base/time.h"

namespace corelane::dispatch {

class BudgetAlarm {
 public:
  virtual ~BudgetAlarm() = default;
  // CorePool::check_budget() is to be called then; `never`: not at all. Replaces what was set.
  virtual void set(Time at) noexcept = 0;
};

}  // namespace corelane::dispatch
