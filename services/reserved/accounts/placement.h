// Which cores to give: by what they share (physical core, last-level cache, memory node), as few others as possible
// apart. Threads: pure.
#pragma once

#include <optional>
#include <vector>

#include "orb/os/topology.h"
#include "services/reserved/accounts/model.h"

namespace corelane::reserved {

// How far two cores are apart: what they share, from the nearest. The same order as in hwloc's tree.
enum class Distance : std::uint8_t { same, physical_core, cache, node, machine };
Distance distance(const os::CoreInfo& a, const os::CoreInfo& b) noexcept;

// Out of `free` (ascending), on the machine `all`. Nothing where they do not fit. Of two places that are as good the
// one with the higher numbers is taken: the kernel's own work gathers on the low ones.
std::optional<Place> choose_cores(const std::vector<os::CoreInfo>& all, const std::vector<CoreId>& free,
                                  const CoresWanted& wanted);
// The largest count that would fit instead; 0: none.
int most_cores(const std::vector<os::CoreInfo>& all, const std::vector<CoreId>& free, const CoresWanted& wanted);

}  // namespace corelane::reserved
