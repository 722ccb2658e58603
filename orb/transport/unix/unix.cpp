#include "orb/transport/unix/unix.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <optional>
#include <string>
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
using errors::connect_failed;

bool may_be_called(const os::Fd& connected, const std::string& path, const UnixOptions& options) {
  if (std::find(options.guarded.begin(), options.guarded.end(), path) == options.guarded.end()) return true;
  const auto why = os::why_not_trusted(connected.get(), options.trusted);
  if (why) os::log::error("the server at unix:" + path + " " + *why + ", so it is not used");
  return !why;
}

// Opens the socket's file if it belongs to the user. The open file is connected to, so that nobody can put another one
// at the path after the check.
os::Fd open_socket_of(uid_t user, const std::string& path) {
  os::Fd file(::open(path.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  struct stat found {};
  if (!file || ::fstat(file.get(), &found) != 0 || !S_ISSOCK(found.st_mode) || found.st_uid != user) return {};
  return file;
}

Expected<os::Fd> connect_to_user(uid_t user, const std::string& path, Time deadline, ConnectStop* stop) {
  const os::Fd file = open_socket_of(user, path);
  if (!file) return connect_failed;
  auto fd = connect_stream(unix_address("/proc/self/fd/" + std::to_string(file.get())), deadline, stop);
  if (!fd) return fd;
  const auto server = peer_credentials(fd->get());
  if (!server || server->user != user) return connect_failed;
  return fd;
}

}  // namespace

UnixTransport::UnixTransport(Reactor& reactor, UnixOptions options, ConnectionLimits limits,
                             std::shared_ptr<ConnectionLimiter> limiter)
    : parts_(reactor, limits, std::move(limiter)), options_(std::move(options)) {}

UnixTransport::~UnixTransport() = default;

Expected<std::shared_ptr<Connection>> UnixTransport::connect(const Endpoint& endpoint, Time deadline) {
  if (!names_socket(endpoint, kinds::unix_socket)) return bad_address;
  ConnectStop* const stop = parts_.limits.connect_stop.get();
  auto fd = endpoint.user ? connect_to_user(*endpoint.user, endpoint.path, deadline, stop)
                          : connect_stream(unix_address(endpoint.path), deadline, stop);
  if (!fd) return fd.error();
  if (!may_be_called(*fd, endpoint.path, options_)) return not_trusted;
  return std::shared_ptr<Connection>(
      StreamConnection::make(std::make_unique<SocketLink>(std::move(*fd)), parts_.reactor, parts_.limits));
}

Expected<std::unique_ptr<Listener>> UnixTransport::listen(const Endpoint& endpoint, Acceptor acceptor) {
  if (endpoint.kind != &kinds::unix_socket) return bad_address;
  if (os::Fd passed = os::take_passed_socket(endpoint.path))
    return StreamListener::start(std::make_shared<AcceptLoop>(std::move(passed), std::nullopt, parts_.reactor,
                                                              parts_.limiter, parts_.limits, std::move(acceptor)),
                                 unix_endpoint(endpoint.path));
  auto path = endpoint.path.empty() ? os::SocketPath::choose(options_.directory) : os::SocketPath::claim(endpoint.path);
  if (!path) return logged(path.error(), kinds::unix_socket);
  auto fd = path->listen(options_.mode);
  if (!fd) return logged(fd.error(), kinds::unix_socket);
  Endpoint bound = unix_endpoint(path->path());
  auto loop = std::make_shared<AcceptLoop>(std::move(*fd), std::move(*path), parts_.reactor, parts_.limiter,
                                           parts_.limits, std::move(acceptor));
  return StreamListener::start(std::move(loop), std::move(bound));
}

}  // namespace corelane::transport
