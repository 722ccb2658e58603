#include "orb/transport/socket_transport.h"

#include <utility>

#include "orb/transport/detail/census.h"

namespace corelane::transport {

SocketTransport::SocketTransport(Reactor& reactor, ConnectionLimits limits, UnixOptions unix_options,
                                 ChannelOptions channel_options)
    : SocketTransport(reactor, limits, std::move(unix_options), std::move(channel_options),
                      std::make_shared<ConnectionCensus>(limits)) {}

SocketTransport::SocketTransport(Reactor& reactor, ConnectionLimits limits, UnixOptions unix_options,
                                 ChannelOptions channel_options, const std::shared_ptr<ConnectionCensus>& census)
    : tcp_(reactor, limits, census),
      unix_(reactor, std::move(unix_options), limits, census),
      channels_(reactor, std::move(channel_options), limits, census) {}

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
