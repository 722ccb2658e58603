// not_trusted: what answers at a guarded Unix socket is run by a user who is not believed there (UnixOptions). The log
// says who.
#pragma once

#include "orb/base/error.h"
#include "orb/base/minor.h"

namespace corelane::transport {

inline constexpr Error not_trusted{.kind = ErrorKind::transient, .minor = minor::no_usable_profile};

}  // namespace corelane::transport
