// take_room(): disk or memory for a part of a file, so that a write there, or a store to a mapping, finds it taken.
#pragma once

#include <sys/types.h>

#include "orb/os/fd.h"

namespace corelane::os {

// Bytes [begin, begin + length), length > 0; the file grows as needed. False: errno says why (ENOSPC, EFBIG, ...).
// Signals of this thread wait until it is over: before Linux 6.9 a file in memory stops at each and starts from
// nothing, and a timer's would never let it end. Thread: any but a real-time one; the time is that of clearing the
// bytes.
bool take_room(const Fd& file, off_t begin, off_t length) noexcept;

}  // namespace corelane::os
