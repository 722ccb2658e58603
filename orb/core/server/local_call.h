// call_local() calls an object of the same ORB. The call passes the adapter's POA manager, and runs the servant on the
// caller's thread. An operation with a contract runs inline, too; the caller's own budget must cover it. If the caller
// has admitted a task for the operation, the call runs as that task's job, on the task's core, and the caller waits. If
// that task already waits for the caller, the call is part of the waiting job (call_chain.h).
//
// Threads: any.
#pragma once

#include <string_view>

#include "orb/core/client/reference.h"

namespace corelane::core {

// Calls the operation, if the object lives in this ORB; otherwise returns false. Raises what the servant raises
// (undeclared user exceptions as UNKNOWN), and the system exceptions of dispatch.
bool call_local(Reference& reference, std::string_view operation, void* const* frame);

}  // namespace corelane::core
