// SocketTransport is the transport of an ORB: it has one transport of each kind. The endpoint's kind selects one. All
// count against the same limits.
#pragma once

#include <memory>
#include <vector>

#include "orb/transport/reactor.h"
#include "orb/transport/transport.h"
#include "orb/transport/transport_options.h"

namespace corelane::transport {

class SocketTransport final : public Transport {
 public:
  // `reactor` outlives the transport.
  explicit SocketTransport(Reactor& reactor, const ConnectionLimits& limits = {}, const TransportOptions& options = {});
  ~SocketTransport() override;

  Expected<std::shared_ptr<Connection>> connect(const Endpoint& endpoint, Time deadline) override;
  // Listens. A listener at a path makes its socket again if it is removed.
  Expected<std::unique_ptr<Listener>> listen(const Endpoint& endpoint, Acceptor acceptor) override;
  const ConnectionLimits& limits() const noexcept override { return limits_; }

 private:
  Transport& of(const Endpoint& endpoint) noexcept;

  const ConnectionLimits limits_;
  std::vector<std::unique_ptr<Transport>> transports_;  // in the order of transport_kinds(); constant
};

}  // namespace corelane::transport
