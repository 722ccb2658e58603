// UnixTransport carries byte streams over Unix-domain sockets, between processes of one host that see the same files.
#pragma once

#include <memory>

#include "orb/transport/reactor.h"
#include "orb/transport/transport.h"
#include "orb/transport/transport_parts.h"
#include "orb/transport/unix_options.h"

namespace corelane::transport {

class UnixTransport final : public Transport {
 public:
  // See TransportParts for `reactor` and `limiter`.
  explicit UnixTransport(Reactor& reactor, UnixOptions options = {}, ConnectionLimits limits = {},
                         std::shared_ptr<ConnectionLimiter> limiter = nullptr);
  ~UnixTransport() override;

  Expected<std::shared_ptr<Connection>> connect(const Endpoint& endpoint, Time deadline) override;
  // Listens at the path. The socket's file is removed when the listener stops. The file of a server that died is
  // removed when its path is wanted again. A live server keeps its path: COMM_FAILURE address_in_use. If systemd passed
  // a socket for the path, it is used as it is (orb/os/peers/passed_socket.h).
  Expected<std::unique_ptr<Listener>> listen(const Endpoint& endpoint, Acceptor acceptor) override;
  const ConnectionLimits& limits() const noexcept override { return parts_.limits; }

 private:
  const TransportParts parts_;
  const UnixOptions options_;
};

}  // namespace corelane::transport
