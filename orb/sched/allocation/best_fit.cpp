// Best fit leaves the smallest rest. It wastes little capacity in pieces that are too small for any task.
#include "orb/sched/allocation_strategy.h"

namespace corelane::sched::allocation {

extern const AllocationStrategy best_fit{
    .name = "best-fit",
    .help = "the core with the least free capacity first",
    .before = [](const SpareCapacity& a, const SpareCapacity& b) noexcept { return a.free < b.free; },
};

}  // namespace corelane::sched::allocation
