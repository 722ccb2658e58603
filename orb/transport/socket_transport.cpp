#include "orb/transport/socket_transport.h"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <utility>

#include "orb/transport/detail/connection_limiter.h"
#include "orb/transport/detail/path_listener.h"
#include "orb/transport/transport_kind.h"

namespace corelane::transport {

SocketTransport::SocketTransport(Reactor& reactor, const ConnectionLimits& limits, const TransportOptions& options)
    : limits_(limits) {
  const auto limiter = std::make_shared<ConnectionLimiter>(limits);
  for (const TransportKind* const kind : transport_kinds())
    transports_.push_back(kind->make(reactor, options, limits, limiter));
}

SocketTransport::~SocketTransport() = default;

Expected<std::shared_ptr<Connection>> SocketTransport::connect(const Endpoint& endpoint, Time deadline) {
  return of(endpoint).connect(endpoint, deadline);
}

Expected<std::unique_ptr<Listener>> SocketTransport::listen(const Endpoint& endpoint, Acceptor acceptor) {
  Transport& transport = of(endpoint);
  auto first = transport.listen(endpoint, acceptor);
  if (!first) return first.error();
  return as_path_listener(std::move(*first),
                          [&transport, acceptor](const Endpoint& place) { return transport.listen(place, acceptor); });
}

Transport& SocketTransport::of(const Endpoint& endpoint) noexcept {
  const auto all = transport_kinds();
  const auto found = std::find(all.begin(), all.end(), endpoint.kind);
  assert(found != all.end());
  return *transports_[static_cast<std::size_t>(found - all.begin())];
}

}  // namespace corelane::transport
