// Puts threads into SCHED_DEADLINE. In each period the kernel runs such a thread for its runtime, before all threads of
// other classes, and no longer. The deadline equals the period; docs/servers.md explains why.
//
// The kernel accepts only a thread whose affinity covers its whole root domain. A thread that is bound to one core does
// not cover a root domain of all cores. See core_domain.h.
//
// Threads: any. A change may wait for the kernel's cgroup lock while another process changes control groups.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string_view>

#include "orb/base/time.h"
#include "orb/os/threads/scheduling_class.h"

namespace corelane::os {

struct DeadlineShare {
  Duration runtime{};  // at least 1024 ns; zero: no share
  Duration period{};   // 100 us to 4.19 s, unless the system is set otherwise

  friend constexpr bool operator==(const DeadlineShare&, const DeadlineShare&) = default;
};

enum class DeadlineRefusal : std::uint8_t {
  none,
  range,       // the kernel does not accept this runtime or period
  permission,  // CAP_SYS_NICE is missing
  domain,      // the thread may not run on all cores of its root domain
  bandwidth,   // the shares of the domain's threads would exceed what the kernel grants
  other,
};

// Returns a clause that says why the request was refused and how to fix that.
std::string_view text_of(DeadlineRefusal refusal) noexcept;

// Gives the thread this share. Threads and processes that it starts have no share (reset on fork). A sleeping thread
// begins its first period when it wakes.
DeadlineRefusal enter_deadline_class(pid_t thread, const DeadlineShare& share) noexcept;

// Reduces the thread's share to almost nothing. Call it before the thread leaves the class. Otherwise the kernel goes
// on counting the old share. For a sleeping thread it does so until the root domain is rebuilt, for a running one until
// its period ends. Until then the thread could not re-enter the class. Does nothing for a thread of another class.
void give_back_deadline_share(pid_t thread) noexcept;

// Moves the calling thread from SCHED_DEADLINE to SCHED_OTHER; does nothing for other classes. Call it before the
// thread ends. The kernel subtracts a dead thread's share when its period ends, even from a root domain that was
// rebuilt meanwhile.
void leave_deadline_class() noexcept;

}  // namespace corelane::os
