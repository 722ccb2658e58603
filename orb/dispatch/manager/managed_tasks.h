// Starts the executive of the modes `manager` and `direct`: a manager admits tasks and places them on cores of their
// own.
#pragma once

#include <memory>

#include "orb/dispatch/core_provider.h"
#include "orb/dispatch/queue/executive_state.h"

namespace corelane::dispatch {

// Leases cores and starts the threads. `provider` must outlive the result. Errors: as Executive::start().
Expected<std::unique_ptr<Executive::State>> start_managed_tasks(const ExecutiveOptions& options,
                                                                CoreProvider& provider);

}  // namespace corelane::dispatch
