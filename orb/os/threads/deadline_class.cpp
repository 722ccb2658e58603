#include "orb/os/threads/deadline_class.h"

#include <sched.h>

#include <cerrno>
#include <chrono>

#include "orb/os/privileges.h"

namespace corelane::os {
namespace {

constexpr Duration shortest_runtime{1024};
constexpr DeadlineShare next_to_nothing{shortest_runtime, std::chrono::seconds{4}};

// Returns 0 or the error number.
int change(pid_t thread, const DeadlineShare& share) noexcept {
  return set_deadline_class(thread, share.runtime, share.period);
}

bool has_class(pid_t thread) noexcept {
  const int policy = sched_getscheduler(thread);
  return policy >= 0 && (policy & ~SCHED_RESET_ON_FORK) == deadline_class;
}

}  // namespace

std::string_view text_of(DeadlineRefusal refusal) noexcept {
  switch (refusal) {
    case DeadlineRefusal::none:
      return "granted";
    case DeadlineRefusal::range:
      return "the kernel takes no such runtime or period (see kernel.sched_deadline_period_min_us and _max_us)";
    case DeadlineRefusal::permission:
      return "CAP_SYS_NICE is missing: sudo setcap cap_sys_nice,cap_ipc_lock+ep <program>, or run it as root";
    case DeadlineRefusal::domain:
      return "the core is not alone in its root domain: the server needs cores of its own under cgroup v1";
    case DeadlineRefusal::bandwidth:
      return "the kernel grants no more bandwidth there";
    case DeadlineRefusal::other:
      break;
  }
  return "the kernel refuses SCHED_DEADLINE";
}

DeadlineRefusal enter_deadline_class(pid_t thread, const DeadlineShare& share) noexcept {
  if (share.runtime < shortest_runtime || share.runtime > share.period) return DeadlineRefusal::range;
  switch (change(thread, share)) {
    case 0:
      return DeadlineRefusal::none;
    case EINVAL:
      return DeadlineRefusal::range;
    case EBUSY:
      return DeadlineRefusal::bandwidth;
    case EPERM:
      return may_set_deadlines() ? DeadlineRefusal::domain : DeadlineRefusal::permission;
    default:
      return DeadlineRefusal::other;
  }
}

void give_back_deadline_share(pid_t thread) noexcept {
  if (has_class(thread)) (void)change(thread, next_to_nothing);
}

void leave_deadline_class() noexcept {
  if (!has_class(0)) return;
  (void)change(0, next_to_nothing);
  const sched_param lowest{.sched_priority = 0};
  (void)sched_setscheduler(0, SCHED_OTHER, &lowest);
}

}  // namespace corelane::os
