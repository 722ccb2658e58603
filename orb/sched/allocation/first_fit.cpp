// First fit fills the cores in their order. It needs few cores, and the others stay free for tasks that need most of a
// core.
#include "orb/sched/allocation_strategy.h"

namespace corelane::sched::allocation {

extern const AllocationStrategy first_fit{
    .name = "first-fit",
    .help = "the cores in the order of their numbers",
    .before = [](const SpareCapacity& a, const SpareCapacity& b) noexcept { return a.core < b.core; },
};

}  // namespace corelane::sched::allocation
