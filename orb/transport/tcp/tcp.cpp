#include "orb/transport/tcp/tcp.h"

#include <string>
#include <utility>
#include <vector>

#include "orb/base/minor.h"
#include "orb/os/clock.h"
#include "orb/os/log.h"
#include "orb/transport/detail/address.h"
#include "orb/transport/detail/connection_limiter.h"
#include "orb/transport/detail/reactor_impl.h"
#include "orb/transport/detail/socket.h"
#include "orb/transport/detail/socket_link.h"
#include "orb/transport/detail/stream_listener.h"
#include "orb/transport/stream/stream_connection.h"

namespace corelane::transport {
namespace {

// Connects to the first address that answers. Each address has its own share of the time, so that a silent one does not
// use up the time of the others.
Expected<os::Fd> connect_any(const std::vector<Address>& addresses, Time deadline, ConnectStop* stop) noexcept {
  Error failure{};
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    auto fd = connect_stream(addresses[i], os::first_share_of(deadline, addresses.size() - i), stop);
    if (fd) return fd;
    failure = fd.error();
  }
  return failure;
}

std::string taken_text(const Endpoint& endpoint) {
  const Endpoint free{.host = endpoint.host, .port = 0};
  return to_string(endpoint) + " is taken: `ss -lptn 'sport = :" + std::to_string(endpoint.port) +
         "'` shows which process has it, and -ORBEndpointListen " + to_string(free) + " takes a free port";
}

Expected<os::Fd> listen_any(const std::vector<Address>& addresses) noexcept {
  Error failure{};
  for (const Address& address : addresses) {
    auto fd = listen_stream(address);
    if (fd || fd.error().minor == minor::address_in_use) return fd;
    failure = fd.error();
  }
  return failure;
}

}  // namespace

TcpTransport::TcpTransport(Reactor& reactor, ConnectionLimits limits, std::shared_ptr<ConnectionLimiter> limiter)
    : parts_(reactor, limits, std::move(limiter)) {}

TcpTransport::~TcpTransport() = default;

Expected<std::shared_ptr<Connection>> TcpTransport::connect(const Endpoint& endpoint, Time deadline) {
  const auto addresses = resolve(endpoint, AddressUse::connect, deadline, parts_.limits.connect_stop.get());
  if (!addresses) return addresses.error();
  auto fd = connect_any(*addresses, deadline, parts_.limits.connect_stop.get());
  if (!fd) return fd.error();
  return std::shared_ptr<Connection>(
      StreamConnection::make(std::make_unique<SocketLink>(std::move(*fd)), parts_.reactor, parts_.limits));
}

Expected<std::unique_ptr<Listener>> TcpTransport::listen(const Endpoint& endpoint, Acceptor acceptor) {
  const auto addresses = resolve(endpoint, AddressUse::listen, never);
  if (!addresses) return addresses.error();
  auto fd = listen_any(*addresses);
  if (!fd && fd.error().minor == minor::address_in_use) os::log::error(taken_text(endpoint));
  if (!fd) return fd.error();
  Endpoint bound = local_endpoint(fd->get());
  auto loop = std::make_shared<AcceptLoop>(std::move(*fd), std::nullopt, parts_.reactor, parts_.limiter, parts_.limits,
                                           std::move(acceptor));
  return StreamListener::start(std::move(loop), std::move(bound));
}

}  // namespace corelane::transport
