// Computes what the analysis must know of the servers for best-effort jobs (best_effort.server): the load of each core,
// and the levels that are left for tasks.
// Threads: pure functions.
#pragma once

#include <optional>

#include "orb/base/ids.h"
#include "orb/dispatch/executive.h"
#include "orb/sched/priority.h"
#include "orb/sched/task.h"

namespace corelane::dispatch {

// Returns the SCHED_FIFO levels of the tasks: below the manager's, and below the servers' if there are any.
sched::NativeRange task_natives(const ExecutiveOptions& options) noexcept;

// Returns the load of the server that the options put on the core. It counts also before the server has begun, because
// it may begin at any time. Returns nothing if there is no server.
std::optional<sched::PlatformLoad> best_effort_load(const ExecutiveOptions& options, CoreId core);

}  // namespace corelane::dispatch
