// These functions turn an executive's options into those of its sched::Manager. Nothing else does, so experiments in
// virtual time admit exactly as a server does.
//
// Threads: pure functions. Those with noexcept allocate nothing.
#pragma once

#include <vector>

#include "orb/dispatch/core_provider.h"
#include "orb/dispatch/executive.h"
#include "orb/sched/manager.h"
#include "orb/sched/task.h"

namespace corelane::dispatch {

// Returns how the core orders its jobs. In experiments, the admission test may be one for all cores by deadlines.
sched::CoreOrder order_of(const ExecutiveOptions& options, CoreId core) noexcept;

sched::ManagerOptions manager_options(const ExecutiveOptions& options, const std::vector<CoreLease>& leases);

// Returns the load of the thread that reads connections, as the analysis counts it.
sched::PlatformLoad reader_load(const ExecutiveOptions& options) noexcept;

// Returns what the process itself runs on the core above its tasks, beside its platform load: a best-effort server, and
// a reader that has a budget. The Manager is told of it by set_interference().
std::vector<sched::PlatformLoad> own_loads(const ExecutiveOptions& options, CoreId core);

}  // namespace corelane::dispatch
