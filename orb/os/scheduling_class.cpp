#include "orb/os/scheduling_class.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

namespace corelane::os {
namespace {

// Not in glibc 2.36. linux/sched/types.h.
struct SchedAttributes {
  std::uint32_t size = sizeof(SchedAttributes);
  std::uint32_t policy = 0;
  std::uint64_t flags = 0;
  std::int32_t nice = 0;
  std::uint32_t priority = 0;
  std::uint64_t runtime = 0, deadline = 0, period = 0;  // ns
};
static_assert(sizeof(SchedAttributes) == 48);

int set_attributes(int thread, const SchedAttributes& attributes) noexcept {
  return ::syscall(SYS_sched_setattr, thread, &attributes, 0) == 0 ? 0 : errno;
}

}  // namespace

int set_deadline_class(int thread, Duration budget, Duration period) noexcept {
  SchedAttributes attributes;
  attributes.policy = 6;  // SCHED_DEADLINE
  attributes.flags = 1;   // SCHED_FLAG_RESET_ON_FORK: without it fork() fails
  attributes.runtime = static_cast<std::uint64_t>(budget.count());
  attributes.deadline = attributes.period = static_cast<std::uint64_t>(period.count());
  return set_attributes(thread, attributes);
}

std::optional<SchedulingClass> scheduling_class_of(int thread) noexcept {
  SchedAttributes found;
  if (::syscall(SYS_sched_getattr, thread, &found, sizeof found, 0) != 0) return std::nullopt;
  return SchedulingClass{.policy = found.policy,
                         .flags = found.flags,
                         .nice = found.nice,
                         .priority = found.priority,
                         .runtime = found.runtime,
                         .deadline = found.deadline,
                         .period = found.period};
}

int set_scheduling_class(int thread, const SchedulingClass& wanted) noexcept {
  SchedAttributes attributes;
  attributes.policy = wanted.policy;
  attributes.flags = wanted.flags;
  attributes.nice = wanted.nice;
  attributes.priority = wanted.priority;
  attributes.runtime = wanted.runtime;
  attributes.deadline = wanted.deadline;
  attributes.period = wanted.period;
  return set_attributes(thread, attributes);
}

}  // namespace corelane::os
