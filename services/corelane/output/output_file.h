// Checks the path of an output file before a command does the work whose result goes there.
// Threads: any. Reads the file system and changes nothing.
#pragma once

#include <string>

namespace corelane::tool {

// Returns why no file could be written to `path`, and what to do; "" if nothing is known against it. A regular file is
// replaced by a new one beside it, so its directory must take new files. A device or a pipe is written directly.
std::string fault_of_output_file(const std::string& path);

}  // namespace corelane::tool
