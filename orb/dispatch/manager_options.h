// These functions turn an executive's options into those of its sched::Manager. Nothing else does, so experiments in
// virtual time admit exactly as a server does.
//
// Threads: pure functions.
#pragma once

#include <vector>

#include "orb/dispatch/core_provider.h"
#include "orb/dispatch/executive.h"
#include "orb/sched/manager.h"

namespace corelane::dispatch {

sched::CoreOrder order_of(const ExecutiveOptions& options, CoreId core) noexcept;

sched::ManagerOptions manager_options(const ExecutiveOptions& options, const std::vector<CoreLease>& leases);

}  // namespace corelane::dispatch
