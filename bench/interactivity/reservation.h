// Cores of its own for a process and all that it starts, from a corelane-reserved.
#pragma once

#include <string>
#include <vector>

namespace interactivity {

// Has so many whole cores reserved for this process tree by the daemon of that runtime directory, waits while none are
// free, and becomes the command. std::exception says why not. The cores go back when the process ends.
[[noreturn]] void become_reserved(unsigned cores, const std::string& directory,
                                  const std::vector<std::string>& command);

}  // namespace interactivity
