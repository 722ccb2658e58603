// Reads and writes small files that a user named: configuration, a reference, a trace. read_small_file() reads a whole
// file. If the name leads to a folder, a pipe, a device or a huge file, the result is a fault; the function neither
// blocks nor takes unbounded memory. write_small_file() writes a whole file or nothing.
// Threads: any but real-time ones: these functions use files and allocate.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>
#include <string_view>

#include "orb/base/expected.h"

namespace corelane::os {

// Why a file could not be read or written, as a sentence that begins with the path: "/etc is a folder".
struct FileFault {
  std::string text;
};

// Reads at most `limit` bytes; a longer file is a fault.
Expected<std::string, FileFault> read_small_file(const std::string& path, std::size_t limit);

// Replaces the file atomically: a reader sees the old file or the whole new one. Replaces a symbolic link, too. Writes
// first to PATH.new, so do not call it twice at a time for one path. `mode` 0: 0666 less the umask.
Expected<void, FileFault> write_small_file(const std::string& path, std::string_view text, mode_t mode = 0);

// Writes the whole text at the descriptor's position, in as many writes as the system needs. Returns false with errno
// if not all of it was written.
bool write_all(int file, std::string_view text) noexcept;

}  // namespace corelane::os
