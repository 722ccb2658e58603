// What every program of the comparison does as a process: it ends with the runner, tells the runner where it listens,
// and reads CPU times.
#pragma once

#include <cstdint>
#include <string>

namespace peers {

// The kernel kills this process when the runner ends in any way. Call it first in main().
void end_with_parent();

// Tells the runner where the server listens; clients get it as --address.
void announce(const std::string& address);

// Blocks until the runner kills the process.
[[noreturn]] void serve_until_killed();

// Returns the CPU time that all threads of a process have used, in nanoseconds; 0 if the process has ended or pid is 0.
std::int64_t cpu_time_of(std::int64_t pid);

// Prints the fault as a record that the runner shows in the row, and returns the exit status.
int fail(const std::string& fault);

}  // namespace peers
