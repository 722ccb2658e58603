// Where the runtime reads time: the machine's clocks, or a test's own.
// Threads: any; two function pointers.
#pragma once

#include "orb/base/time.h"
#include "orb/os/clock.h"

namespace corelane::dispatch {

struct Clock {
  Time (*now)() noexcept = &os::now;
  Duration (*cpu_time)() noexcept = &os::thread_cpu_time;  // of the calling thread
  Duration (*cpu_time_of)(os::CpuClock) noexcept = &os::cpu_time;
};

}  // namespace corelane::dispatch
