// MemoryTransport: connections within this process, without sockets, threads or waits. A thread that waits for bytes on
// the client's side runs the server's side meanwhile, on its own thread, step by step: what was sent is parsed there,
// its request runs, and the reply is there. So the instructions of a call are those of the broker, the same each time.
//
// A server's end works as ServerConnection asks for it: read by a RequestSource (requests without a contract), by a
// Watcher, or, once it is bound to a task, by an OwnConnection. It has a descriptor that never becomes readable, so
// that no thread of the server ever reads; or none at all, and then a Watcher reads it from the start.
//
// Threads: connections are made, called and ended by one thread. Threads of the server may send, as the manager does
// when it has admitted a task.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "orb/transport/transport.h"

namespace corelane::bench {

class MemoryTransport final : public transport::Transport, public std::enable_shared_from_this<MemoryTransport> {
 public:
  enum class Descriptor { at_once, once_watched };
  explicit MemoryTransport(Descriptor descriptor) : descriptor_(descriptor) {}

  Expected<std::shared_ptr<transport::Connection>> connect(const transport::Endpoint& endpoint, Time deadline) override;
  Expected<std::unique_ptr<transport::Listener>> listen(const transport::Endpoint& endpoint,
                                                        transport::Acceptor acceptor) override;
  const transport::ConnectionLimits& limits() const noexcept override { return limits_; }

 private:
  class MemoryListener;

  const Descriptor descriptor_;
  const transport::ConnectionLimits limits_{};
  transport::Endpoint endpoint_{};
  transport::Acceptor acceptor_{};  // of the one listener
};

}  // namespace corelane::bench
