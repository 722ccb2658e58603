// Operations on sets of cores. A set is a vector of core ids in ascending order.
// Threads: pure.
#pragma once

#include <vector>

#include "orb/base/ids.h"

namespace corelane::reserved {

std::vector<CoreId> without(const std::vector<CoreId>& from, const std::vector<CoreId>& these);
std::vector<CoreId> common_to(const std::vector<CoreId>& a, const std::vector<CoreId>& b);
std::vector<CoreId> joined(const std::vector<CoreId>& a, const std::vector<CoreId>& b);
bool holds(const std::vector<CoreId>& set, CoreId core);

}  // namespace corelane::reserved
