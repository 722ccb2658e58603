// Worst fit balances the load. Each core keeps room for tasks to come, and all cores leave about as much to best-effort
// work.
#include "orb/sched/allocation_strategy.h"

namespace corelane::sched::allocation {

extern const AllocationStrategy worst_fit{
    .name = "worst-fit",
    .help = "the core with the most free capacity first",
    .before = [](const SpareCapacity& a, const SpareCapacity& b) noexcept { return a.free > b.free; },
};

}  // namespace corelane::sched::allocation
