// restore() undoes the changes in a journal, at the daemon's end, and at its start after a crash.
// Threads: as Backend.
#pragma once

#include <string>
#include <vector>

#include "services/reserved/backends/backend.h"

namespace corelane::reserved {

// Returns a text for each change that could not be undone; these stay in the journal. Processes that have ended need
// nothing. `interrupts`: the kernel's folder of interrupts, "/proc/irq".
std::vector<std::string> restore(const Host& host, const std::string& interrupts);

}  // namespace corelane::reserved
