// Reserves cores for a process and all that it starts, with a corelane-reserved.
#pragma once

#include <string>
#include <vector>

namespace interactivity {

// Asks the daemon of that runtime directory to reserve so many whole cores for this process tree. Waits while none are
// free. Then runs the command in this process. Raises std::exception if this fails. The cores are released when the
// process ends.
[[noreturn]] void become_reserved(unsigned cores, const std::string& directory,
                                  const std::vector<std::string>& command);

}  // namespace interactivity
