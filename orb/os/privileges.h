// Privileges: what the system lets this process do, probed once by trying; and memory locking.
// Threads: any but real-time ones; the first call of privileges() probes (a short-lived thread, some system calls).
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "orb/base/expected.h"

namespace corelane::os {

struct Privileges {
  bool fifo = false;             // SCHED_FIFO at every level that dispatch uses (2..49) and above
  bool fifo_group_zero = false;  // refused only because the control group's real-time runtime is 0 (RT_GROUP_SCHED)
  bool memlock = false;          // all memory may be locked
};

// Of this process, as found at the first call.
const Privileges& privileges();

// CAP_SYS_NICE, which SCHED_DEADLINE takes whatever the limits are; as found at the first call, which reads a file.
bool may_set_deadlines() noexcept;

// What is missing, what that costs, and which command mends it: a line for each.
std::vector<std::string> missing(const Privileges& privileges);
// The same for a reader of requests that was refused `priority`, which is to be above the tasks'; "" where missing()
// says it already.
std::string refused_reader(const Privileges& privileges, int priority);

// Locks present and future memory, keeps the heap from returning pages to the system or mapping new ones, and touches
// `heap` bytes of it. At start, before real-time threads run. NO_PERMISSION when the system refuses to lock.
Expected<void> lock_memory(std::size_t heap = 16 * 1024 * 1024) noexcept;

}  // namespace corelane::os
