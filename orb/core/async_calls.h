// AsyncCalls: the calls of an ORB that nobody waits for in a stub. For each connection that carries some, a collector
// thread waits for their replies and hands each to its handler; where other threads wait on that connection too, it
// takes its turn in reading with them. It ends soon after the last of its calls has.
//
// Threads: any but real-time ones. The collectors are threads of their own (SCHED_OTHER); a handler that takes long
// holds up the replies behind it on the same connection, and no caller that waits for himself.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "orb/core/async_invocation.h"
#include "orb/core/client_call.h"
#include "orb/os/thread.h"

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

  // Sends the request, retried and forwarded as a waiting call is. Raises what keeps it from being sent, and leaves the
  // call alone then.
  void start(AsyncCall& call);
  // After the connections were closed: waits until all handlers have heard. Later calls: BAD_INV_ORDER. Not from a
  // handler.
  void close() noexcept;

 private:
  class Collector;
  bool let_go(Collector& idle);
  std::shared_ptr<Collector> collector_of(const std::shared_ptr<ClientConnection>& connection);

  std::mutex mutex_;
  // Guarded by mutex_.
  std::vector<std::shared_ptr<Collector>> collectors_;
  std::shared_ptr<Collector> ended_;  // the last one whose thread let itself go; to be joined
  bool closed_ = false;
};

// Whether this thread is inside a handler.
bool inside_reply_handler() noexcept;

}  // namespace corelane::core
