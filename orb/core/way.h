// Which way the calls through a reference go, for people.
// Threads: any but real-time ones.
#pragma once

#include <string>

#include "orb/core/reference.h"

namespace corelane::core {

// "calls over channel:... : <why over that>", of the connection that the latest calls used.
std::string way_of(const Reference& reference);

}  // namespace corelane::core
