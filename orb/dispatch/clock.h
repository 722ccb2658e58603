// Clock is how the runtime reads time and the kernel's data about threads: from the machine, or from a test.
// Threads: any; function pointers.
#pragma once

#include <optional>

#include "orb/base/time.h"
#include "orb/os/clock.h"
#include "orb/os/threads/thread_state.h"

namespace corelane::dispatch {

struct Clock {
  Time (*now)() noexcept = &os::now;
  Duration (*cpu_time)() noexcept = &os::thread_cpu_time;  // of the calling thread
  Duration (*cpu_time_of)(os::CpuClock) noexcept = &os::cpu_time;
  std::optional<Duration> (*run_delay)() noexcept = &os::run_delay;  // of the calling thread
  bool (*is_asleep)(pid_t) noexcept = &os::is_asleep;
};

}  // namespace corelane::dispatch
