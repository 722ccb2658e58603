// read_small_file(): a whole file that a user named: configuration, a reference, a trace. What such a name may lead to
// by mistake (a folder, a pipe, a device, something huge) is a fault and neither a wait nor memory without end.
// Threads: any but real-time ones: it reads files and allocates.
#pragma once

#include <cstddef>
#include <string>

#include "orb/base/expected.h"

namespace corelane::os {

// Why it could not be read, as a sentence that begins with the path: "/etc is a folder".
struct FileFault {
  std::string text;
};

// At most `limit` bytes; a longer file is a fault.
Expected<std::string, FileFault> read_small_file(const std::string& path, std::size_t limit);

}  // namespace corelane::os
