// TcpTransport carries byte streams over TCP: IPv4 and IPv6, with no delay, keep-alive and close-on-exec.
#pragma once

#include <memory>

#include "orb/transport/reactor.h"
#include "orb/transport/transport.h"
#include "orb/transport/transport_parts.h"

namespace corelane::transport {

class TcpTransport final : public Transport {
 public:
  // See TransportParts for `reactor` and `limiter`.
  explicit TcpTransport(Reactor& reactor, ConnectionLimits limits = {},
                        std::shared_ptr<ConnectionLimiter> limiter = nullptr);
  ~TcpTransport() override;

  Expected<std::shared_ptr<Connection>> connect(const Endpoint& endpoint, Time deadline) override;
  Expected<std::unique_ptr<Listener>> listen(const Endpoint& endpoint, Acceptor acceptor) override;
  const ConnectionLimits& limits() const noexcept override { return parts_.limits; }

 private:
  const TransportParts parts_;
};

}  // namespace corelane::transport
