// The descriptors 0, 1 and 2, which every library of a process writes to and reads from without asking.
#pragma once

namespace corelane::os {

// Opens /dev/null where one of them is closed. Otherwise the next file that is opened, a ledger that others share say,
// gets its number, and what the program prints goes there. Call it before a library opens descriptors of its own.
// Threads: any; a process that opens descriptors elsewhere at that moment may still be unlucky.
void hold_standard_descriptors() noexcept;

}  // namespace corelane::os
