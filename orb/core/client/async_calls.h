// AsyncCalls runs the asynchronous calls of an ORB, for which no stub waits. Each connection with such calls has a
// collector, a thread of a ThreadGroup. It waits for their replies and passes each one to its handler. If other threads
// wait on that connection, too, the collector takes turns with them in reading. A collector ends soon after its last
// call has ended.
//
// Threads: any except real-time ones. The collectors are threads of their own (SCHED_OTHER). A slow handler delays the
// later asynchronous replies on the same connection. It does not delay callers that wait for their own replies.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <vector>

#include "orb/base/thread_safety.h"
#include "orb/core/client/async_invocation.h"
#include "orb/core/client/client_call.h"
#include "orb/os/mutex.h"
#include "orb/os/threads/thread_group.h"

namespace corelane::core {

struct AsyncCall {
  ClientCallPtr call;
  std::span<const RaisesEntry> raises;
  AsyncInvocation::OnReply on_reply;  // may be empty
};

class AsyncCalls {
 public:
  AsyncCalls();
  ~AsyncCalls();

  // Sends the request. Retries and forwards it like a call that waits. Raises what prevents sending; then the caller
  // still owns `call`, and the handler is not called.
  void start(AsyncCall& call);
  // Blocks until all handlers have returned. Call it after the connections were closed, and not from a handler. Later
  // calls raise BAD_INV_ORDER.
  void close() noexcept;

 private:
  class Collector;
  bool let_go(Collector& idle);
  std::shared_ptr<Collector> collector_of(const std::shared_ptr<ClientConnection>& connection);

  os::Mutex mutex_;
  std::vector<std::shared_ptr<Collector>> collectors_ CORELANE_GUARDED_BY(mutex_);
  bool closed_ CORELANE_GUARDED_BY(mutex_) = false;

  os::ThreadGroup threads_{os::ThreadOptions{.name = "cl-replies-"}};  // the collectors; last: they use the others
};

// Returns whether the calling thread is inside a reply handler.
bool inside_reply_handler() noexcept;

}  // namespace corelane::core
