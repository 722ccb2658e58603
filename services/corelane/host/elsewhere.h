// Functions that find servers of this host outside the runtime directory in use. These are servers of other users, and
// servers that were given a directory of their own.
// Threads: none of its own; reads directories and /proc.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "orb/base/time.h"

namespace corelane::tool {

// Returns the usual runtime directories of all users, and the directories that processes use which this user may
// examine.
std::vector<std::string> known_directories();

// Caches known_directories() for callers that need it often. That function reads the open files of every process, so
// this class calls it at most every ten seconds.
// Threads: one.
class KnownDirectories {
 public:
  // `now` is a time of the clock of os::now().
  const std::vector<std::string>& at(Time now);

 private:
  std::optional<Time> looked_{};
  std::vector<std::string> directories_{};
};

// Returns a line for each of `directories`, except `here`, that has servers or cannot be read; "" if none has.
std::string elsewhere_text(const std::string& here, const std::vector<std::string>& directories);

// Returns the directory that the process uses, if it is a server that this user may examine; "" if it is not known.
std::string directory_of_server(int pid);

// Returns the running servers in the directory whose pages this user may not read.
std::vector<int> closed_servers(const std::string& directory);

// Returns whether the process exists, also for processes of other users. Returns false only if the kernel does not know
// it; an ended process that was not waited for exists. Raises nothing.
bool lives(int pid);

}  // namespace corelane::tool
