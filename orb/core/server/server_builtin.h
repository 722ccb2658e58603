// Answers requests that need no servant: the operations that every object has, and Corelane's own operations for tasks.
// Thread: the one that reads the connection.
#pragma once

#include "orb/core/hooks/server_request_hook.h"
#include "orb/core/objects/object_dispatch.h"
#include "orb/core/requests/reply_to.h"
#include "orb/giop/headers.h"

namespace corelane::core {

class ServerConnection;

// Returns false if the request is not such a one. The names of all such operations begin with '_'. std::bad_alloc.
bool answer_builtin(ServerConnection& connection, giop::Parsed<giop::RequestHeader>& request,
                    const ReceivedRequest& received, const ReplyTo& to, const ActiveObject& object);

}  // namespace corelane::core
