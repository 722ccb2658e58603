// Allocates disk space or memory for a part of a file. A later write there, or a store to a mapping, cannot run out of
// space.
#pragma once

#include <sys/types.h>

#include "orb/os/fd.h"

namespace corelane::os {

// Allocates bytes [begin, begin + length), length > 0; the file grows as needed. Returns false with errno (ENOSPC,
// EFBIG, ...). Blocks this thread's signals until it is done. Before Linux 6.9, a signal stops the allocation of a file
// in memory, which then starts from the beginning. With a periodic timer signal it would never end. Thread: any but a
// real-time one; takes the time of clearing the bytes.
bool take_room(const Fd& file, off_t begin, off_t length) noexcept;

}  // namespace corelane::os
