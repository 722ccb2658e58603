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
  bool asks = false;      // of the shared task, which was refused and is requested again with this job
  bool foreseen = false;  // the request comes no sooner than the task's contract allows
};

// Returns the task of a request. Returns nothing if the task was refused; then the request was answered. A task that
// the request names must be the shared task of the operation, or one that this connection, or the one to whose task it
// is bound, admitted for this operation of this object.
std::optional<RequestTask> task_of(ServerConnection& connection, const giop::RequestHeader& header,
                                   const ReceivedRequest& received, const ReplyTo& to, ActiveObject& object,
                                   const Upcall& upcall);

}  // namespace corelane::core
