// MemoryTransport makes connections within this process, without sockets, threads or waits. A thread that waits for
// bytes on the client's side runs the server's side meanwhile. It does so step by step: it parses the request, runs it
// and writes the reply. So a call takes the broker's own instructions, the same number each time.
//
// A server's end is read in the way that ServerConnection asks for. A RequestSource reads requests without a contract.
// A Watcher reads from the start if the connection has no descriptor. A DedicatedConnection reads a connection that is
// bound to a task. A descriptor never becomes readable, so no thread of the server reads.
//
// Threads: one thread makes, calls and ends connections. Threads of the server may send, as the manager does when it
// has admitted a task.
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
  transport::Acceptor acceptor_{};  // of the only listener
};

}  // namespace corelane::bench
