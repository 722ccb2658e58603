// Reads what the kernel reports about a thread besides its clocks: how long it waited for a core, and whether it sleeps
// now. Reads /proc; a call takes some microseconds.
//
// Threads: any. Allocates nothing.
#pragma once

#include <sys/types.h>

#include <optional>

#include "orb/base/time.h"

namespace corelane::os {

// Returns how long the calling thread has been ready without running since it started. A wait that is not over does not
// count. Nothing if the kernel does not count it (CONFIG_SCHED_INFO) or /proc is missing.
std::optional<Duration> run_delay() noexcept;

// Returns whether the thread of this process waits for something other than a core. False if that cannot be read.
bool is_asleep(pid_t tid) noexcept;

}  // namespace corelane::os
