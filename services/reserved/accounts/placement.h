// Chooses the cores of a reservation. Prefers cores that share a physical core, last-level cache or memory node. Of
// equally near places it takes the one that leaves the fewest cores of its cache free.
// Threads: pure.
#pragma once

#include <optional>
#include <vector>

#include "orb/os/machine/topology.h"
#include "services/reserved/accounts/model.h"

namespace corelane::reserved {

// How far apart two cores are, by the closest thing they share. Nearest first, in the same order as hwloc's tree.
enum class Distance : std::uint8_t { same, physical_core, cache, node, machine };
Distance distance(const os::CoreInfo& a, const os::CoreInfo& b) noexcept;

// Chooses from `free` (ascending), on the machine `all`. Returns nothing if the request does not fit. Of two equally
// good places it takes the one with the higher core numbers, since the kernel's own work gathers on the low ones.
std::optional<Place> choose_cores(const std::vector<os::CoreInfo>& all, const std::vector<CoreId>& free,
                                  const CoresWanted& wanted);
// Returns the largest count that would fit instead; 0: none.
int most_cores(const std::vector<os::CoreInfo>& all, const std::vector<CoreId>& free, const CoresWanted& wanted);

}  // namespace corelane::reserved
