// UnixTransport carries byte streams over Unix-domain sockets, between processes of one host that see the same files.
#pragma once

#include <memory>

#include "orb/transport/reactor.h"
#include "orb/transport/transport.h"
#include "orb/transport/unix_options.h"

namespace corelane::transport {

class ConnectionLimiter;

class UnixTransport final : public Transport {
 public:
  // `reactor` outlives the transport. `limiter`: shared with other transports, so that their connections count
  // together.
  explicit UnixTransport(Reactor& reactor, UnixOptions options = {}, ConnectionLimits limits = {},
                         std::shared_ptr<ConnectionLimiter> limiter = nullptr);
  ~UnixTransport() override;

  Expected<std::shared_ptr<Connection>> connect(const Endpoint& endpoint, Time deadline) override;
  // Listens at the path. The socket's file is removed when the listener stops. The file of a server that died is
  // removed when its path is wanted again. A live server keeps its path: COMM_FAILURE address_in_use. If systemd passed
  // a socket for the path, it is used as it is (orb/os/peers/passed_socket.h).
  Expected<std::unique_ptr<Listener>> listen(const Endpoint& endpoint, Acceptor acceptor) override;
  const ConnectionLimits& limits() const noexcept override { return limits_; }

 private:
  const std::shared_ptr<Reactor::Impl> reactor_;
  const UnixOptions options_;
  const ConnectionLimits limits_;
  const std::shared_ptr<ConnectionLimiter> limiter_;  // of accepted connections
};

}  // namespace corelane::transport
