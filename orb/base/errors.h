// Errors that several folders answer with, each named once. Their texts stand in minor.h.
#pragma once

#include "orb/base/error.h"
#include "orb/base/minor.h"

namespace corelane::errors {

inline constexpr Error no_memory{.kind = ErrorKind::no_memory, .minor = minor::out_of_memory};
inline constexpr Error queue_full{.kind = ErrorKind::transient, .minor = minor::queue_full};
inline constexpr Error shutting_down{.kind = ErrorKind::transient, .minor = minor::shutting_down};
inline constexpr Error task_gone{.kind = ErrorKind::transient, .minor = minor::unknown_task};

}  // namespace corelane::errors
