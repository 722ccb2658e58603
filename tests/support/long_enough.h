// How long tests wait for something that must come.
#pragma once

#include <chrono>

#include "orb/base/time.h"

namespace corelane::testing {

// Long enough for any machine. A test that waits that long has failed.
inline constexpr Duration long_enough = std::chrono::seconds{60};

}  // namespace corelane::testing
