// What an executive's options make of its sched::Manager: the one place, so that experiments in virtual time admit as a
// server does.
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
