// Reads the monotonic clock (CLOCK_MONOTONIC) and the CPU clocks of threads, and converts to the kernel's format of
// time. Threads: any; no state. now() uses the vDSO, so on the usual clock sources it does not enter the kernel.
#pragma once

#include <ctime>

#include "orb/base/time.h"

namespace corelane::os {

Time now() noexcept;

// Returns the execution time of the calling thread. A system call: tenths of a microsecond.
Duration thread_cpu_time() noexcept;

// Another thread's execution time. The clock's name is valid while the thread lives. A system call, as above.
using CpuClock = clockid_t;
CpuClock cpu_clock_of_this_thread() noexcept;
Duration cpu_time(CpuClock clock) noexcept;  // zero if the thread has ended

// Converts to the kernel's format, for absolute and relative times. Negative values become zero, which means "at once".
timespec to_timespec(Duration duration) noexcept;
inline timespec to_timespec(Time time) noexcept { return to_timespec(time.time_since_epoch()); }

// Sleeps until `time`; returns at once if it has passed. The scheduler may delay the wake-up.
void sleep_until(Time time) noexcept;

// Returns the time left until `deadline`, at least zero; Duration::max() for `never`.
Duration left_until(Time deadline) noexcept;

// Returns the end of the first share of the time left, which is divided equally among `shares` attempts. So an attempt
// that is never answered leaves time for the others.
Time first_share_of(Time deadline, std::size_t shares) noexcept;

}  // namespace corelane::os
