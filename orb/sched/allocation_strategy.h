// AllocationStrategy is the order in which the Manager tries the cores for a task. It is an order only: the admission
// test decides on each core, and a task is refused only if it fits on none of them.
//
// A strategy is one file in orb/sched/allocation and one line in the table of strategies.cpp there. The setting
// dispatch.allocation and the field policy.allocation of scenario files choose one by its name.
//
// comes_before() is the whole order, for everything that places tasks: the Manager's search and repacking
// (SpareCapacities), CoreAllocator, SlowdownSet, SpinPlacement, and plans with policies that are functions (CustomSet).
// Each of them makes its own SpareCapacity values.
//
// Threads: constant objects and pure functions.
#pragma once

#include <string_view>

#include "orb/base/registry.h"
#include "orb/sched/share.h"
#include "orb/sched/usable_in.h"

namespace corelane::sched {

// A core as an allocation strategy sees it: what it has left for a task that is being placed.
struct SpareCapacity {
  int core = 0;    // its index among the cores of the process
  Share free = 0;  // the capacity that neither the platform nor tasks use; negative if they use more
  // How many cores it comes after the core of the last placement. The first core comes after the last one. 0: it is the
  // core of the last placement, or the first core if there was none.
  int steps = 0;
  // The load of intensive tasks: cache_load is that of all cores that share this core's last-level cache, beside is
  // that without this core. Both are set for an intensive task under a strategy that regards caches, otherwise 0.
  Share cache_load = 0;
  Share beside = 0;
};

// Returns how many steps core `to` comes after core `from` of so many cores; see SpareCapacity::steps.
constexpr int steps_between(int from, int to, int cores) noexcept { return to >= from ? to - from : to - from + cores; }

struct AllocationStrategy {
  std::string_view name;  // the value of the setting: lower case, with dashes
  std::string_view help;  // says what comes first, behind the name and a colon
  // Returns whether core `a` is tried before core `b`. It must be a strict weak order. Where it has no preference, the
  // core with the lower index comes first.
  bool (*before)(const SpareCapacity& a, const SpareCapacity& b) noexcept;
  UsableIn usable_in{};
  // SpareCapacity::cache_load and SpareCapacity::beside are set. A repacking then keeps each bin of tasks on its core.
  bool regards_caches = false;
  // A task that fits on no core is cut into parts, each for another core: see orb/sched/analysis/splitting.h. A Manager
  // cuts no task.
  bool splits = false;
};

// Returns whether the strategy prefers core `a` to core `b`, or has no preference and `a` has the lower index.
inline bool comes_before(const AllocationStrategy& strategy, const SpareCapacity& a, const SpareCapacity& b) noexcept {
  return strategy.before(a, b) || (a.core < b.core && !strategy.before(b, a));
}

Registry<AllocationStrategy> allocation_strategies() noexcept;
inline const AllocationStrategy* default_allocation_strategy() noexcept { return allocation_strategies().front(); }

}  // namespace corelane::sched
