// TcpTransport carries byte streams over TCP: IPv4 and IPv6, with no delay, keep-alive and close-on-exec.
#pragma once

#include <memory>
#include <vector>

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

// Returns where to listen for an endpoint whose host is a name: at each address of the name, with numbers. For any
// other endpoint, and for a name that is not known, returns the endpoint. Blocks while it resolves the name.
std::vector<Endpoint> listening_places(const Endpoint& endpoint);

}  // namespace corelane::transport
