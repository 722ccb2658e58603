#include "orb/transport/socket_transport.h"

#include <utility>

#include "orb/transport/detail/census.h"

namespace corelane::transport {

SocketTransport::SocketTransport(Reactor& reactor, ConnectionLimits limits, UnixOptions unix_options)
    : SocketTransport(reactor, limits, std::move(unix_options), std::make_shared<ConnectionCensus>(limits)) {}

SocketTransport::SocketTransport(Reactor& reactor, ConnectionLimits limits, UnixOptions unix_options,
                                 const std::shared_ptr<ConnectionCensus>& census)
    : tcp_(reactor, limits, census), unix_(reactor, std::move(unix_options), limits, census) {}

Transport& SocketTransport::of(const Endpoint& endpoint) noexcept {
  if (endpoint.kind == EndpointKind::unix_socket) return unix_;
  return tcp_;
}

}  // namespace corelane::transport
