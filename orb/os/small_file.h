// read_small_file(): a whole file that a user named: configuration, a reference, a trace. What such a name may lead to
// by mistake (a folder, a pipe, a device, something huge) is a fault and neither a wait nor memory without end.
// write_small_file(): such a file, whole or not at all.
// Threads: any but real-time ones: it reads files and allocates.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>
#include <string_view>

#include "orb/base/expected.h"

namespace corelane::os {

// Why it could not be read or written, as a sentence that begins with the path: "/etc is a folder".
struct FileFault {
  std::string text;
};

// At most `limit` bytes; a longer file is a fault.
Expected<std::string, FileFault> read_small_file(const std::string& path, std::size_t limit);

// Who looks sees the file of before or all of this one, which takes the place of a symbolic link, too. It is written
// beside first, as PATH.new, which is this call's alone: not by two at a time. `mode` 0: 0666 less the umask.
Expected<void, FileFault> write_small_file(const std::string& path, std::string_view text, mode_t mode = 0);

// All of it, where the descriptor stands, however little the system takes at once. False, with errno: not all is there.
bool write_all(int file, std::string_view text) noexcept;

}  // namespace corelane::os
