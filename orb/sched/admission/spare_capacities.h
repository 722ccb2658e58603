// SpareCapacities is what the cores have left for one task, as the allocation strategy sees it, and the order of the
// cores that follows.
//
// Threads: as Manager. Nothing allocates after construction.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "orb/sched/admission/core_task_set.h"
#include "orb/sched/admission/placement.h"
#include "orb/sched/allocation_strategy.h"

namespace corelane::sched {

class SpareCapacities {
 public:
  // `placement` must outlive this object.
  explicit SpareCapacities(const Placement& placement);

  // Notes what all cores have left for a task of this demand, beside the tasks that are charged to them now. Bound: the
  // number of cores.
  void note(const Demand& demand) noexcept;
  // Does the same beside other tasks: one task set for each core, and the core of the last placement.
  void note(const Demand& demand, std::span<const CoreTaskSet> task_sets, int last_placed) noexcept;

  const SpareCapacity& of(int core) const noexcept { return spare_[static_cast<std::size_t>(core)]; }
  // See comes_before().
  bool is_before(int a, int b) const noexcept;

 private:
  void note(std::size_t core, const CoreTaskSet& task_set, int last_placed) noexcept;
  void add_caches(const Demand& demand) noexcept;

  const Placement& placement_;
  std::vector<std::size_t> cache_of_;  // per core: the index of its cache
  std::vector<Share> cache_loads_;     // per cache: what intensive tasks use of its cores
  std::vector<Share> core_loads_;      // per core: the same
  std::vector<SpareCapacity> spare_;
};

}  // namespace corelane::sched
