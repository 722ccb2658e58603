// Facts of the machine that a reader needs to compare numbers with those of another machine.
#pragma once

#include <string>
#include <vector>

#include "orb/base/ids.h"

namespace bench_support {

// Returns the hardware threads that this process may use, in ascending order.
std::vector<corelane::CoreId> usable_cores();

// Returns processor, cores, kernel and frequency governor, one line each.
std::string machine_facts();

}  // namespace bench_support
