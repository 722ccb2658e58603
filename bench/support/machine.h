// What a reader has to know of the machine to compare a number with one of his own.
#pragma once

#include <string>
#include <vector>

#include "orb/base/ids.h"

namespace bench_support {

// Hardware threads that this process may use, ascending.
std::vector<corelane::CoreId> usable_cores();

// Processor, cores, kernel, frequency governor, in one line each.
std::string machine_facts();

}  // namespace bench_support
