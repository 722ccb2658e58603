// SCHED_DEADLINE for a thread: the kernel gives it its runtime in each period, before all threads of other classes, and
// no more. Deadline and period are the same; docs/servers.md says why.
//
// The kernel accepts a thread whose affinity covers its whole root domain: where there is one domain of all cores that
// is no bound thread. See core_domain.h.
//
// Threads: any. A change may wait for the kernel's lock of the control groups while somebody changes those.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string_view>

#include "orb/base/time.h"
#include "orb/os/scheduling_class.h"

namespace corelane::os {

struct DeadlineShare {
  Duration runtime{};  // 1024 ns at least; zero: none
  Duration period{};   // 100 us to 4.19 s, unless the system is set otherwise

  friend constexpr bool operator==(const DeadlineShare&, const DeadlineShare&) = default;
};

enum class DeadlineRefusal : std::uint8_t {
  none,
  range,       // of the share
  permission,  // CAP_SYS_NICE is missing
  domain,      // the thread may not run on all cores of its root domain
  bandwidth,   // the shares of the domain's threads would exceed what the kernel grants
  other,
};

// A sentence part: why, and how to mend it.
std::string_view text_of(DeadlineRefusal refusal) noexcept;

// From now on the thread has that share; what it starts has none (reset on fork). A thread that sleeps begins its first
// period when it wakes.
DeadlineRefusal enter_deadline_class(pid_t thread, const DeadlineShare& share) noexcept;

// Before the thread leaves the class: makes its share next to nothing. Kernels count what a sleeping thread had until
// the root domain is made anew, and of one that runs until its period is over, so it could not come back before.
// Nothing for a thread of another class.
void give_back_deadline_share(pid_t thread) noexcept;

// The calling thread runs under SCHED_OTHER from now on, where it was under SCHED_DEADLINE. Before it ends: the kernel
// takes a dead thread's share off the books when its period is over, also off those of a domain that is new by then.
void leave_deadline_class() noexcept;

}  // namespace corelane::os
