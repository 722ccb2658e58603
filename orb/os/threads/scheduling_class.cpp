#include "orb/os/threads/scheduling_class.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

namespace corelane::os {
namespace {

// struct sched_attr of <linux/sched/types.h>, which cannot be included beside <sched.h>; glibc 2.36 has none.
struct SchedAttributes {
  std::uint32_t size = sizeof(SchedAttributes);
  std::uint32_t policy = 0;
  std::uint64_t flags = 0;
  std::int32_t nice = 0;
  std::uint32_t priority = 0;
  std::uint64_t runtime = 0, deadline = 0, period = 0;  // ns
};
static_assert(sizeof(SchedAttributes) == 48);

constexpr std::uint64_t reset_on_fork = 1;  // SCHED_FLAG_RESET_ON_FORK: SCHED_DEADLINE requires it for fork()

}  // namespace

int set_deadline_class(int thread, Duration budget, Duration period) noexcept {
  const auto period_ns = static_cast<std::uint64_t>(period.count());
  return set_scheduling_class(thread, {.policy = deadline_class,
                                       .flags = reset_on_fork,
                                       .runtime = static_cast<std::uint64_t>(budget.count()),
                                       .deadline = period_ns,
                                       .period = period_ns});
}

std::optional<SchedulingClass> scheduling_class_of(int thread) noexcept {
  SchedAttributes found;
  if (::syscall(SYS_sched_getattr, thread, &found, sizeof found, 0U) != 0) return std::nullopt;
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
  return ::syscall(SYS_sched_setattr, thread, &attributes, 0U) == 0 ? 0 : errno;
}

}  // namespace corelane::os
