// The real monotonic clock (CLOCK_MONOTONIC), the calling thread's CPU clock, and the kernel's spelling of time.
// Threads: any; no state. Below the vDSO, so neither call enters the kernel on the usual clock sources (now() alone).
#pragma once

#include <ctime>

#include "orb/base/time.h"

namespace corelane::os {

Time now() noexcept;

// Execution time of the calling thread. A system call: tenths of a microsecond.
Duration thread_cpu_time() noexcept;

// Another thread's execution time, by a name that holds while it lives. A system call, as above.
using CpuClock = clockid_t;
CpuClock cpu_clock_of_this_thread() noexcept;
Duration cpu_time(CpuClock clock) noexcept;  // zero when its thread has ended

// Absolute or relative, as the kernel wants it; what lies before zero becomes zero, which means "at once".
timespec to_timespec(Duration duration) noexcept;
inline timespec to_timespec(Time time) noexcept { return to_timespec(time.time_since_epoch()); }

// Sleeps until `time` comes; returns at once when it has passed. A wake-up is late by what the scheduler makes it.
void sleep_until(Time time) noexcept;

// How long until `deadline`, at least zero.
Duration left_until(Time deadline) noexcept;

}  // namespace corelane::os
