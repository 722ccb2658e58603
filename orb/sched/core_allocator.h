// CoreAllocator allocates tasks to cores by an allocation strategy alone. There is no admission test: each task gets a
// core. It goes to the first core, in the order of the strategy, whose utilization stays at most 1. If there is none,
// it goes to the core with the lowest utilization. The strategy does not see which cores share a cache.
//
// Threads: one at a time. Nothing allocates after construction.
#pragma once

#include <cstddef>
#include <vector>

#include "orb/base/contract.h"
#include "orb/sched/allocation_strategy.h"
#include "orb/sched/share.h"

namespace corelane::sched {

class CoreAllocator {
 public:
  // The strategy lives at least as long as this object.
  CoreAllocator(const AllocationStrategy& strategy, std::size_t cores);

  // Returns the index of the core for a task with this contract, which is sound. There is at least one core. Bound: the
  // number of cores.
  std::size_t core_for(const Contract& contract) const noexcept;
  // Notes that the task is on that core, or has left it.
  void add(std::size_t core, const Contract& contract) noexcept;
  void remove(std::size_t core, const Contract& contract) noexcept;

 private:
  const AllocationStrategy& strategy_;
  std::vector<Share> loads_;  // of each core
  std::size_t last_ = 0;      // the core of the last placement; the first one before
};

}  // namespace corelane::sched
