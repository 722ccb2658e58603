// not_trusted is the error for a guarded Unix socket (UnixOptions) at which a process of an untrusted user answers. The
// log names the user.
#pragma once

#include "orb/base/error.h"
#include "orb/base/minor.h"

namespace corelane::transport {

inline constexpr Error not_trusted{.kind = ErrorKind::transient, .minor = minor::no_usable_profile};

}  // namespace corelane::transport
