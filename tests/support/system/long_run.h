// Whether this run may take long.
#pragma once

#include <cstdlib>

namespace corelane::testing {

// Returns whether tests do all of their work: `./dev test --long` sets CORELANE_LONG. Otherwise tests that take minutes
// do a part of it, which they say.
inline bool is_long_run() { return std::getenv("CORELANE_LONG") != nullptr; }

}  // namespace corelane::testing
