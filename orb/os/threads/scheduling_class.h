// Sets and reads scheduling classes, including SCHED_DEADLINE, which pthreads do not support. See sched_setattr(2).
// Threads: any. Results are 0 or an errno.
#pragma once

#include <cstdint>
#include <optional>

#include "orb/base/time.h"

namespace corelane::os {

inline constexpr int deadline_class = 6;  // SCHED_DEADLINE, which glibc's headers lack

// Puts a thread into SCHED_DEADLINE: it runs for its budget in every period, before threads of all other classes. What
// it forks is ordinary. `thread` is a tid; 0 is the caller. EPERM without CAP_SYS_NICE, or if its affinity does not
// cover its root domain. EBUSY if no such share is left.
int set_deadline_class(int thread, Duration budget, Duration period) noexcept;

// How a thread is scheduled, in the kernel's values.
struct SchedulingClass {
  std::uint32_t policy = 0;  // SCHED_OTHER
  std::uint64_t flags = 0;
  std::int32_t nice = 0;
  std::uint32_t priority = 0;
  std::uint64_t runtime = 0, deadline = 0, period = 0;  // ns

  bool is_deadline() const noexcept { return policy == deadline_class; }
  friend bool operator==(const SchedulingClass&, const SchedulingClass&) = default;
};
// Returns nothing if the thread has ended.
std::optional<SchedulingClass> scheduling_class_of(int thread) noexcept;
int set_scheduling_class(int thread, const SchedulingClass& wanted) noexcept;

}  // namespace corelane::os
