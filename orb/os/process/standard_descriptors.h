// Protects the descriptors 0, 1 and 2, which every library of a process may read and write.
#pragma once

#include <string>

namespace corelane::os {

// Opens /dev/null for each of them that is closed. It still cannot be read or written (EBADF). Otherwise the next
// opened file would get its number, for example a shared ledger, and the program's output would go there. Call it
// before a library opens descriptors.
// Threads: any. It may fail to help if another thread opens descriptors at that moment.
void hold_standard_descriptors() noexcept;

// Makes a write to a pipe or socket without a reader fail with EPIPE instead of ending this process. For daemons and
// servers, whose standard output and error may lose their reader. If the program has already set an action for SIGPIPE,
// that stays. Programs that this one starts are not affected.
// Thread: any.
void outlive_readers() noexcept;

// Flushes std::cout. Returns why it did not take all output; empty if it did. Use it for output that others wait for,
// and at the end of a program. Thread: the one that prints.
std::string output_fault();

}  // namespace corelane::os
