// C=D splitting (Burns, Davis, Wang & Zhang 2012) cuts a task that fits on no core. Each part but the last has a
// deadline equal to its budget, so it runs at once, and the next part follows on another core. It is for cores that run
// the earliest deadline first: the test `qpa`.
#include "orb/sched/allocation_strategy.h"

namespace corelane::sched::allocation {

extern const AllocationStrategy splitting{
    .name = "splitting",
    .help =
        "the cores in the order of their numbers, and a task that fits on none of them is cut into parts for "
        "several (C=D)",
    .before = [](const SpareCapacity& a, const SpareCapacity& b) noexcept { return a.core < b.core; },
    .usable_in = outside_servers,
    .splits = true,
};

}  // namespace corelane::sched::allocation
