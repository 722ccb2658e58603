// Reads and writes small files that a user named: configuration, a reference, a trace. read_small_file() reads a whole
// file. If the name leads to a folder, a pipe, a device or a huge file, the result is a fault. The function does not
// block, and the memory that it uses has a limit. write_small_file() and write_output_file() write a whole file or
// nothing.
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

// Replaces the file atomically: a reader sees the old file or the whole new one. For state of a process: a symbolic
// link is replaced, never followed, because another user may have made it. If the path is a folder, a pipe, a socket or
// a device, the result is a fault. Writes first to PATH.new, so do not call it twice at a time for one path. `mode` 0:
// 0666 less the umask.
Expected<void, FileFault> write_small_file(const std::string& path, std::string_view text, mode_t mode = 0);

// Writes a file that a user named as an output. Follows symbolic links and replaces their target atomically, as
// write_small_file() does. The new file has the mode of the old one, and its owner if this process may give files away.
// Writes straight to a pipe or a character device such as /dev/stdout, and waits for the reader of a pipe. Refuses
// folders, sockets and block devices.
Expected<void, FileFault> write_output_file(const std::string& path, std::string_view text);

// Writes the whole text at the descriptor's position, in as many writes as the system needs. Returns false with errno
// if not all of it was written.
bool write_all(int file, std::string_view text) noexcept;

}  // namespace corelane::os
