#include "orb/transport/socket_transport.h"

#include <utility>

#include "orb/transport/detail/connection_limiter.h"
#include "orb/transport/detail/kept_listener.h"

namespace corelane::transport {

SocketTransport::SocketTransport(Reactor& reactor, ConnectionLimits limits, UnixOptions unix_options,
                                 ChannelOptions channel_options)
    : SocketTransport(reactor, limits, std::move(unix_options), std::move(channel_options),
                      std::make_shared<ConnectionLimiter>(limits)) {}

SocketTransport::SocketTransport(Reactor& reactor, ConnectionLimits limits, UnixOptions unix_options,
                                 ChannelOptions channel_options, const std::shared_ptr<ConnectionLimiter>& limiter)
    : tcp_(reactor, limits, limiter),
      unix_(reactor, std::move(unix_options), limits, limiter),
      channels_(reactor, std::move(channel_options), limits, limiter) {}

Expected<std::unique_ptr<Listener>> SocketTransport::listen(const Endpoint& endpoint, Acceptor acceptor) {
  Transport& transport = of(endpoint);
  auto first = transport.listen(endpoint, acceptor);
  if (!first) return first.error();
  return kept(std::move(*first),
              [&transport, acceptor](const Endpoint& place) { return transport.listen(place, acceptor); });
}

Transport& SocketTransport::of(const Endpoint& endpoint) noexcept {
  switch (endpoint.kind) {
    case EndpointKind::unix_socket:
      return unix_;
    case EndpointKind::channel:
      return channels_;
    case EndpointKind::tcp:
      break;
  }
  return tcp_;
}

}  // namespace corelane::transport
