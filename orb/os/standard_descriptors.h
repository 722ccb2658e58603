// The descriptors 0, 1 and 2, which every library of a process writes to and reads from without asking.
#pragma once

#include <string>

namespace corelane::os {

// Opens /dev/null where one of them is closed, so that it cannot be read or written any more than before (EBADF).
// Otherwise the next file that is opened, a ledger that others share say, gets its number, and what the program prints
// goes there. Call it before a library opens descriptors of its own.
// Threads: any; a process that opens descriptors elsewhere at that moment may still be unlucky.
void hold_standard_descriptors() noexcept;

// From now on a write to a pipe or a socket that nobody reads fails with EPIPE instead of ending this process, for
// daemons and servers, whose standard output and error may lose their reader. A program that has said itself what
// SIGPIPE does keeps that. Programs that this one starts are not affected.
// Thread: any.
void outlive_readers() noexcept;

// Flushes std::cout: why it did not take all that was printed; empty: it did. For what others wait to read, and for the
// end of a program. Thread: the one that prints.
std::string output_fault();

}  // namespace corelane::os
