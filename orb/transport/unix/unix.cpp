#include "orb/transport/unix/unix.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "orb/base/errors.h"
#include "orb/os/log.h"
#include "orb/os/peers/passed_socket.h"
#include "orb/os/peers/peer_trust.h"
#include "orb/os/socket_path.h"
#include "orb/transport/detail/address.h"
#include "orb/transport/detail/connection_limiter.h"
#include "orb/transport/detail/reactor_impl.h"
#include "orb/transport/detail/socket.h"
#include "orb/transport/detail/socket_link.h"
#include "orb/transport/detail/stream_listener.h"
#include "orb/transport/not_trusted.h"
#include "orb/transport/stream/stream_connection.h"

namespace corelane::transport {
namespace {

using errors::bad_address;

bool may_be_called(const os::Fd& connected, const std::string& path, const UnixOptions& options) {
  if (std::find(options.guarded.begin(), options.guarded.end(), path) == options.guarded.end()) return true;
  const auto why = os::why_not_trusted(connected.get(), options.trusted);
  if (why) os::log::error("the server at unix:" + path + " " + *why + ", so it is not used");
  return !why;
}

}  // namespace

UnixTransport::UnixTransport(Reactor& reactor, UnixOptions options, ConnectionLimits limits,
                             std::shared_ptr<ConnectionLimiter> limiter)
    : reactor_(reactor.impl()),
      options_(std::move(options)),
      limits_(limits),
      limiter_(limiter ? std::move(limiter) : std::make_shared<ConnectionLimiter>(limits)) {}

UnixTransport::~UnixTransport() = default;

Expected<std::shared_ptr<Connection>> UnixTransport::connect(const Endpoint& endpoint, Time deadline) {
  if (!names_socket(endpoint, kinds::unix_socket)) return bad_address;
  auto fd = connect_stream(unix_address(endpoint.path), deadline, limits_.connect_stop.get());
  if (!fd) return fd.error();
  if (!may_be_called(*fd, endpoint.path, options_)) return not_trusted;
  return std::shared_ptr<Connection>(
      StreamConnection::make(std::make_unique<SocketLink>(std::move(*fd)), reactor_, limits_));
}

Expected<std::unique_ptr<Listener>> UnixTransport::listen(const Endpoint& endpoint, Acceptor acceptor) {
  if (endpoint.kind != &kinds::unix_socket) return bad_address;
  if (os::Fd passed = os::take_passed_socket(endpoint.path))
    return StreamListener::start(
        std::make_shared<AcceptLoop>(std::move(passed), std::nullopt, reactor_, limiter_, limits_, std::move(acceptor)),
        unix_endpoint(endpoint.path));
  auto path = endpoint.path.empty() ? os::SocketPath::choose(options_.directory) : os::SocketPath::claim(endpoint.path);
  if (!path) return logged(path.error(), kinds::unix_socket);
  auto fd = path->listen(options_.mode);
  if (!fd) return logged(fd.error(), kinds::unix_socket);
  Endpoint bound = unix_endpoint(path->path());
  auto loop =
      std::make_shared<AcceptLoop>(std::move(*fd), std::move(*path), reactor_, limiter_, limits_, std::move(acceptor));
  return StreamListener::start(std::move(loop), std::move(bound));
}

}  // namespace corelane::transport
