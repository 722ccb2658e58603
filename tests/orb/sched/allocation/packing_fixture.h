// packed() places tasks by an allocation strategy, on cores that can be filled completely.
#pragma once

#include <catch2/catch.hpp>
#include <cstddef>
#include <string_view>
#include <vector>

#include "tests/orb/sched/manager_fixture.h"

namespace corelane::sched::testing {

using Bins = std::vector<std::vector<int>>;

inline const AllocationStrategy* strategy(std::string_view name) {
  const AllocationStrategy* const found = find_named(allocation_strategies(), name);
  REQUIRE(found != nullptr);
  return found;
}

inline ManagerOptions whole_cores(int count, std::string_view name) {
  ManagerOptions options = cores_of(count);
  for (CoreOptions& core : options.cores) core.capacity = whole_core;
  options.repack = false;
  options.allocation = strategy(name);
  return options;
}

// Admits a task for each item, which needs so many tenths of a core. Returns the items on each core, without the empty
// cores at the end.
inline Bins packed(std::string_view name, const std::vector<int>& items, int cores) {
  Bench bench(whole_cores(cores, name));
  Bins bins(static_cast<std::size_t>(cores));
  for (const int item : items) {
    const TaskId task = bench.admitted(share_of_core(10 * item));
    bins[static_cast<std::size_t>(bench.core_of(task).value)].push_back(item);
  }
  while (!bins.empty() && bins.back().empty()) bins.pop_back();
  return bins;
}

// A set of items whose packings are published.
inline const std::vector<int> published_items{8, 5, 7, 6, 2, 4, 1};

}  // namespace corelane::sched::testing
