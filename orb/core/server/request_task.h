// Finds the task of a request: the one that the request names, or the shared task of the operation.
// Thread: the one that reads the connection.
#pragma once

#include <optional>

#include "orb/base/ids.h"
#include "orb/core/hooks/server_request_hook.h"
#include "orb/core/objects/object_dispatch.h"
#include "orb/core/requests/reply_to.h"
#include "orb/giop/headers.h"

namespace corelane::core {

class ServerConnection;

struct RequestTask {
  TaskId task = no_task;
  bool asks = false;      // the shared task was refused before, and this job asks for it again
  bool foreseen = false;  // the request comes no sooner than the task's contract allows
};

// Returns the task of a request. Returns nothing if the request may not run in its task, or that task was refused; then
// the request was answered. A request may name the shared task of the operation. It may also name a task that was
// admitted for this operation of this object over one of two connections: this one, or the one that owns the task to
// which this one is bound.
std::optional<RequestTask> task_of(ServerConnection& connection, const giop::RequestHeader& header,
                                   const ReceivedRequest& received, const ReplyTo& to, ActiveObject& object,
                                   const Upcall& upcall);

}  // namespace corelane::core
