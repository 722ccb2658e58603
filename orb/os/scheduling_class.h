// The scheduling classes, with the one that pthreads do not know: SCHED_DEADLINE. sched_setattr(2).
// Threads: any. Results are 0 or an errno.
#pragma once

#include <cstdint>
#include <optional>

#include "orb/base/time.h"

namespace corelane::os {

inline constexpr int deadline_class = 6;  // SCHED_DEADLINE, which glibc's headers lack

// `thread`: a tid; 0 is the caller. The budget in every period, before all other threads; what it forks is ordinary.
// EPERM without CAP_SYS_NICE, or where its affinity is less than its root domain; EBUSY where no such share is left.
int set_deadline_class(int thread, Duration budget, Duration period) noexcept;

// How a thread is scheduled, in the kernel's own numbers.
struct SchedulingClass {
  std::uint32_t policy = 0;  // SCHED_OTHER
  std::uint64_t flags = 0;
  std::int32_t nice = 0;
  std::uint32_t priority = 0;
  std::uint64_t runtime = 0, deadline = 0, period = 0;  // ns

  bool is_deadline() const noexcept { return policy == deadline_class; }
  friend bool operator==(const SchedulingClass&, const SchedulingClass&) = default;
};
// Nothing where the thread is gone.
std::optional<SchedulingClass> scheduling_class_of(int thread) noexcept;
int set_scheduling_class(int thread, const SchedulingClass& wanted) noexcept;

}  // namespace corelane::os
