// What the kernel says of a thread beside its clocks: how long it waited for a core, and whether it sleeps now. From
// /proc, some microseconds a question.
//
// Threads: any. Nothing allocates.
#pragma once

#include <sys/types.h>

#include <optional>

#include "orb/base/time.h"

namespace corelane::os {

// How long the calling thread was ready and did not run, since it began; a wait that is not over does not count.
// Nothing where the kernel keeps no such count (CONFIG_SCHED_INFO) or /proc is not there.
std::optional<Duration> run_delay() noexcept;

// Whether the thread of this process waits for something other than a core. False where nobody can tell.
bool is_asleep(pid_t tid) noexcept;

}  // namespace corelane::os
