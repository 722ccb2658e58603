// Privileges tells what the system lets this process do, found by trying once. Also locks memory.
// Threads: any but real-time ones. The first call of privileges() starts a short-lived thread and makes some system
// calls.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "orb/base/expected.h"

namespace corelane::os {

struct Privileges {
  bool fifo = false;             // SCHED_FIFO at level 49, the manager's, so below it, too; levels above are not tried
  bool fifo_group_zero = false;  // refused only because the control group's real-time runtime is 0 (RT_GROUP_SCHED)
  bool memlock = false;          // all memory may be locked
};

// Returns the privileges of this process, as found at the first call.
const Privileges& privileges();

// Returns whether this process has CAP_SYS_NICE, which SCHED_DEADLINE requires whatever the limits are. The first call
// reads a file; its answer is kept.
bool may_set_deadlines() noexcept;

// Returns a line for each missing privilege: what it costs and which command fixes it.
std::vector<std::string> missing(const Privileges& privileges);
// Returns such a line for a request reader that was refused `priority`, which must be above the tasks' priorities.
// Returns "" if missing() already reports the cause.
std::string refused_reader(const Privileges& privileges, int priority);

// Locks present and future memory. Keeps the heap from returning pages to the system or mapping new ones, and touches
// `heap` bytes of it. Call it at start, before real-time threads run. NO_PERMISSION if the system refuses to lock.
Expected<void> lock_memory(std::size_t heap = 16 * 1024 * 1024) noexcept;

}  // namespace corelane::os
