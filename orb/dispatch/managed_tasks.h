// Tasks on cores of their own, admitted and placed by a manager: what stands behind the modes `manager` and `direct`.
#pragma once

#include <memory>

#include "orb/dispatch/core_provider.h"
#include "orb/dispatch/executive_state.h"

namespace corelane::dispatch {

// Leases cores and starts the threads. `provider` outlives them. Errors as of Executive::start().
Expected<std::unique_ptr<Executive::State>> start_managed_tasks(const ExecutiveOptions& options,
                                                                CoreProvider& provider);

}  // namespace corelane::dispatch
