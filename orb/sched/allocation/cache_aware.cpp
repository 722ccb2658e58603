// Cache-aware allocation keeps intensive tasks (Contract::intensity) from running at the same time on cores that share
// a last-level cache. It spreads them over the caches first. If each cache has one, further ones share its core, so
// that they take turns. Other tasks go to the least loaded core.
#include "orb/sched/allocation_strategy.h"

namespace corelane::sched::allocation {

extern const AllocationStrategy cache_aware{
    .name = "cache-aware",
    .help =
        "for an intensive task, the core with the least load of other intensive tasks on the same cache; then the core "
        "with the most free capacity",
    .before =
        [](const SpareCapacity& a, const SpareCapacity& b) noexcept {
          if (a.beside != b.beside) return a.beside < b.beside;
          if (a.cache_load != b.cache_load) return a.cache_load < b.cache_load;
          return a.free > b.free;
        },
    .regards_caches = true,
};

}  // namespace corelane::sched::allocation
