// restore(): puts back what a journal names: at the daemon's end, and at its start after a crash.
// Threads: as Backend.
#pragma once

#include <string>
#include <vector>

#include "services/reserved/backends/backend.h"

namespace corelane::reserved {

// What could not be put back, for people; it stays in the journal. Who has ended needs nothing. `interrupts`: the
// folder of the kernel's interrupts, "/proc/irq".
std::vector<std::string> restore(const Host& host, const std::string& interrupts);

}  // namespace corelane::reserved
