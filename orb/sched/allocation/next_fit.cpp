// Next fit (Johnson 1973) stays on the core of the last placement until a task does not fit there. Then it tries the
// cores after it. Consecutive tasks, such as those of one client, share a core. It looks at one core for most tasks, so
// an admission is quick.
//
// The cores form a ring, because tasks also leave. A departure does not move the place in the ring. The capacity that
// it frees on an earlier core is used when the ring comes round to that core. A refused task and the moves of a
// repacking do not move the place either; a task that moves because its core was lost does.
#include "orb/sched/allocation_strategy.h"

namespace corelane::sched::allocation {

extern const AllocationStrategy next_fit{
    .name = "next-fit",
    .help = "the core of the last placement first, then the cores after it, around to the one before it",
    .before = [](const SpareCapacity& a, const SpareCapacity& b) noexcept { return a.steps < b.steps; },
};

}  // namespace corelane::sched::allocation
