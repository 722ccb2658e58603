// Elsewhere: where servers of this host are besides the runtime directory that one looks at: those of other users, and
// those that were given a directory of their own.
// Threads: none of its own; reads directories and /proc.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "orb/base/time.h"

namespace corelane::tool {

// The usual runtime directories of all users, and those in which processes that this user may look at show themselves.
std::vector<std::string> known_directories();

// known_directories() for who asks often: it reads what every process has open, so it looks again after ten seconds.
// Threads: one.
class KnownDirectories {
 public:
  // `now` by the clock of os::now().
  const std::vector<std::string>& at(Time now);

 private:
  std::optional<Time> looked_{};
  std::vector<std::string> directories_{};
};

// A line for each of `directories` but `here` that has servers or cannot be looked at; empty: none has.
std::string elsewhere_text(const std::string& here, const std::vector<std::string>& directories);

// Where the process shows itself, if it is a server that this user may look at; empty: not known.
std::string directory_of_server(int pid);

// Those in the directory that live, and whose pages this user may not read.
std::vector<int> closed_servers(const std::string& directory);

// Of other users', too. Raises nothing: false only where the kernel knows no such process; who has ended and was not
// waited for lives.
bool lives(int pid);

}  // namespace corelane::tool
