#include "orb/transport/channel/channel.h"

#include <fcntl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <optional>
#include <utility>

#include "orb/base/errors.h"
#include "orb/channel/listener.h"
#include "orb/os/clock.h"
#include "orb/os/lock.h"
#include "orb/os/log.h"
#include "orb/transport/detail/address.h"
#include "orb/transport/detail/channel_link.h"
#include "orb/transport/detail/channel_listener.h"
#include "orb/transport/detail/connection_limiter.h"
#include "orb/transport/detail/reactor_impl.h"
#include "orb/transport/stream/stream_connection.h"

namespace corelane::transport {
namespace {

using errors::bad_address;

Error error_of(const channel::SetupFault& fault) noexcept {
  if (fault.kind == channel::SetupFault::Kind::timed_out) return errors::deadline_passed;
  return fault.number == EMFILE || fault.number == ENFILE ? errors::no_descriptor : errors::connect_failed;
}

// Returns the text of the fault. If permission is missing, adds how a server admits other users.
std::string reason_of(const channel::SetupFault& fault) {
  if (fault.number != EACCES) return fault.text;
  return fault.text +
         "; a server lets other users in by channel.allow (-ORBChannelAllow), where they may enter the directory";
}

// Connects like Channel::connect(), but `stop` ends it; null: nothing does.
Expected<channel::Channel, channel::SetupFault> connect_stoppable(const std::string& path,
                                                                  const channel::Options& options, Time deadline,
                                                                  ConnectStop* stop) {
  if (stop == nullptr) return channel::Channel::connect(path, options, deadline);
  auto socket = channel::connect_socket(path, next_look(stop, deadline));
  while (!socket && socket.error().kind == channel::SetupFault::Kind::timed_out && os::now() < deadline &&
         !stop->stopped())  // bound: the deadline; the listener's queue is full
    socket = channel::connect_socket(path, next_look(stop, deadline));
  if (!socket) return socket.error();
  const os::Fd same(fcntl(socket->get(), F_DUPFD_CLOEXEC, 0));  // if the set-up fails, it closes its own descriptor
  const ConnectStop::Scope stoppable(same ? stop : nullptr, same.get());
  return channel::Channel::connect_over(std::move(*socket), options, deadline);
}

}  // namespace

ChannelTransport::ChannelTransport(Reactor& reactor, ChannelOptions options, ConnectionLimits limits,
                                   std::shared_ptr<ConnectionLimiter> limiter)
    : parts_(reactor, limits, std::move(limiter)), options_(std::move(options)) {}

ChannelTransport::~ChannelTransport() = default;

void ChannelTransport::say_once(const std::string& path, const std::string& why) {
  {
    const os::LockGuard lock(mutex_);
    if (std::find(logged_.begin(), logged_.end(), path) != logged_.end()) return;
    logged_.push_back(path);
    if (logged_.size() > logged_at_most) logged_.pop_front();
  }
  os::log::debug("no channel to " + path + "; calls use a socket instead: " + why);
}

void ChannelTransport::forget(const std::string& path) {
  const os::LockGuard lock(mutex_);
  std::erase(logged_, path);
}

Expected<std::shared_ptr<Connection>> ChannelTransport::connect(const Endpoint& endpoint, Time deadline) {
  if (!names_socket(endpoint, kinds::channel)) return bad_address;
  channel::Options options = ChannelLink::options(options_);
  options.access = {.anyone = true};
  auto channel = connect_stoppable(endpoint.path, options, deadline, parts_.limits.connect_stop.get());
  if (!channel) {
    say_once(endpoint.path, reason_of(channel.error()));
    return error_of(channel.error());
  }
  forget(endpoint.path);
  ChannelWatch watch = ChannelWatch::make(channel->peer(), options_);
  auto link = ChannelLink::make(std::move(*channel), std::move(watch), channel_endpoint({}), endpoint);
  if (!link) return link.error();
  return std::shared_ptr<Connection>(StreamConnection::make(std::move(*link), parts_.reactor, parts_.limits));
}

Expected<std::unique_ptr<Listener>> ChannelTransport::listen(const Endpoint& endpoint, Acceptor acceptor) {
  if (endpoint.kind != &kinds::channel) return bad_address;
  auto path = endpoint.path.empty() ? os::SocketPath::choose(options_.directory) : os::SocketPath::claim(endpoint.path);
  if (!path) return logged(path.error(), kinds::channel);
  auto socket = path->listen(channel::mode_for(options_.access), SOCK_SEQPACKET);
  if (!socket) return logged(socket.error(), kinds::channel);
  const channel::Options options = ChannelListener::options(parts_.limiter, parts_.reactor, options_);
  auto listener = channel::Listener::over(std::move(*socket), path->path(), options);
  auto shared = std::make_shared<ChannelListener::Shared>();
  shared->reactor = parts_.reactor;
  shared->limits = parts_.limits;
  shared->endpoint = channel_endpoint(path->path());
  shared->acceptor = std::move(acceptor);
  return ChannelListener::start(std::move(*path), std::move(listener), std::move(shared));
}

}  // namespace corelane::transport
