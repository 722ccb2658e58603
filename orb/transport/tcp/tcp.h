// TcpTransport carries byte streams over TCP: IPv4 and IPv6, with no delay, keep-alive and close-on-exec.
#pragma once

#include <memory>

#include "orb/transport/reactor.h"
#include "orb/transport/transport.h"

namespace corelane::transport {

class ConnectionLimiter;

class TcpTransport final : public Transport {
 public:
  // `reactor` outlives the transport. `limiter`: shared with other transports, so that their connections count
  // together.
  explicit TcpTransport(Reactor& reactor, ConnectionLimits limits = {},
                        std::shared_ptr<ConnectionLimiter> limiter = nullptr);
  ~TcpTransport() override;

  Expected<std::shared_ptr<Connection>> connect(const Endpoint& endpoint, Time deadline) override;
  Expected<std::unique_ptr<Listener>> listen(const Endpoint& endpoint, Acceptor acceptor) override;
  const ConnectionLimits& limits() const noexcept override { return limits_; }

 private:
  const std::shared_ptr<Reactor::Impl> reactor_;
  const ConnectionLimits limits_;
  const std::shared_ptr<ConnectionLimiter> limiter_;  // of accepted connections
};

}  // namespace corelane::transport
