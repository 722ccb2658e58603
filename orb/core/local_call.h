// Calls to objects of the same ORB: through the adapter's gate to the servant, on the caller's thread. An operation
// with a contract runs inline too: the caller's own budget is to cover it. A caller that has admitted a task of its own
// for the operation runs as that task's job instead, on the task's core, and waits for it; unless that task waits for
// the caller already: then the call is a part of the job that waits (call_chain.h).
//
// Threads: any.
#pragma once

#include <string_view>

#include "orb/core/reference.h"

namespace corelane::core {

// Raises what the servant raises (undeclared user exceptions as UNKNOWN), and the system exceptions of dispatch.
void call_local(Reference& reference, std::string_view operation, void* const* frame);

}  // namespace corelane::core
