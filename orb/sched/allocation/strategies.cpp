// The folder orb/sched/allocation has the allocation strategies, one in each file, and the orders of tasks. This file
// is the table of strategies.
#include "orb/sched/allocation_strategy.h"

// Each line names the object that a file of this folder defines. The first strategy is the default.
#define CORELANE_ALLOCATION_STRATEGIES(STRATEGY) \
  STRATEGY(worst_fit)                            \
  STRATEGY(first_fit)                            \
  STRATEGY(best_fit)                             \
  STRATEGY(next_fit)                             \
  STRATEGY(cache_aware)                          \
  STRATEGY(splitting)

namespace corelane::sched {
namespace allocation {

#define CORELANE_DECLARE(name) extern const AllocationStrategy name;
CORELANE_ALLOCATION_STRATEGIES(CORELANE_DECLARE)
#undef CORELANE_DECLARE

}  // namespace allocation

Registry<AllocationStrategy> allocation_strategies() noexcept {
#define CORELANE_LIST(name) &allocation::name,
  static constexpr const AllocationStrategy* all[] = {CORELANE_ALLOCATION_STRATEGIES(CORELANE_LIST)};
#undef CORELANE_LIST
  return all;
}

}  // namespace corelane::sched
