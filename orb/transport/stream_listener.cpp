#include "orb/transport/detail/stream_listener.h"

#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <new>
#include <string>
#include <utility>

#include "orb/base/errors.h"
#include "orb/base/minor.h"
#include "orb/os/clock.h"
#include "orb/os/log.h"
#include "orb/os/peers/passed_descriptors.h"
#include "orb/transport/detail/read_gate.h"
#include "orb/transport/detail/socket.h"
#include "orb/transport/detail/socket_link.h"
#include "orb/transport/stream/stream_connection.h"

namespace corelane::transport {
namespace {

constexpr int accepts_per_turn = 16;
constexpr std::chrono::seconds quiet_for{10};            // between two log lines about the same
constexpr std::chrono::milliseconds starved_pause{100};  // until there may be memory or descriptors again

// Returns whether the error of accept4 concerns only the one connection, or nothing. accept(2) asks to continue after
// these.
bool is_passing(int error) noexcept {
  switch (error) {
    case EINTR:
    case ECONNABORTED:
    case EPROTO:
    case ENETDOWN:
    case ENOPROTOOPT:
    case EHOSTDOWN:
    case ENONET:
    case EHOSTUNREACH:
    case EOPNOTSUPP:
    case ENETUNREACH:
    case EPERM:
      return true;
    default:
      return false;
  }
}

// Returns the name under which connections are counted together: those of one host, or of one user of this host.
std::string peer_name(int fd, const Address& address) {
  if (address.family() != AF_UNIX) return endpoint_of(address).host;
  const auto peer = peer_credentials(fd);
  return peer ? "user " + std::to_string(peer->user) : "nobody";
}

}  // namespace

AcceptLoop::AcceptLoop(os::Fd fd, std::optional<os::SocketPath> path, std::shared_ptr<Reactor::Impl> reactor,
                       std::shared_ptr<ConnectionLimiter> limiter, const ConnectionLimits& limits, Acceptor acceptor)
    : connections_(std::move(reactor)),
      reactor_(connections_->ordinary()),
      limiter_(std::move(limiter)),
      limits_(limits),
      fd_(std::move(fd)),
      path_(std::move(path)),
      acceptor_(std::move(acceptor)) {}

void AcceptLoop::start_on_reactor() {
  if (!fd_) return;
  insist([this] {
    if (!readiness_) readiness_ = reactor_->watch(fd_.get(), shared_from_this());
    if (readiness_) readiness_->arm_read();
  });
}

void AcceptLoop::stop_on_reactor() {
  readiness_.reset();
  path_.reset();  // first, so that no client finds a socket that refuses connections
  spare_.give_up();
  fd_.reset();
}

void AcceptLoop::on_readable() noexcept {
  const bool is_limited = reactor_->reads().limits(ReadLimit::everything);
  if (fd_ && is_limited && reactor_->reads().defers(reads_, weak_from_this(), ReadinessHandler::Turn::read)) return;
  for (int turn = 0; turn < accepts_per_turn && fd_; ++turn) {
    const Turn result = try_accept();
    if (result == Turn::starved) return pause_on_reactor();
    // A displaced connection gives its descriptors back before the next one is accepted.
    if (result == Turn::drained || result == Turn::displaced || is_limited) break;
  }
  if (is_limited) reactor_->reads().charge(reads_);
  start_on_reactor();
}

// Returns whether a message may be logged now. A state that may change with every connection is logged once in a while.
bool AcceptLoop::may_say(Time& next) noexcept {
  const Time now = os::now();
  if (now < next) return false;
  next = now + quiet_for;
  return true;
}

AcceptLoop::Turn AcceptLoop::try_accept() noexcept try { return accept_one(); } catch (const std::bad_alloc&) {
  return Turn::starved;  // the connection is closed again
}

os::Fd AcceptLoop::accept_next(Address& address) noexcept {
  return os::Fd(accept4(fd_.get(), address.native(), &address.length, SOCK_CLOEXEC));
}

AcceptLoop::Turn AcceptLoop::accept_one() {
  spare_.hold(fd_);
  Address address;
  os::Fd fd = accept_next(address);
  const int lack = !fd && os::is_out_of_descriptors(errno) ? errno : 0;
  if (lack != 0 && spare_.give_up()) fd = accept_next(address);
  if (!fd) return none_accepted(errno);
  const std::string peer = peer_name(fd.get(), address);
  auto ticket = place_for(peer, lack);
  if (!ticket) {
    turn_away(fd, peer + " refused: " + ticket.error());
    if (address.family() == AF_UNIX && os::takes_descriptors(fd.get())) os::close_socket(std::move(fd));
    return Turn::refused;
  }
  configure_stream(fd.get(), address.family());
  const Acceptor acceptor = acceptor_;  // a copy: stop() inside the call ends this loop, but not the call
  acceptor(
      StreamConnection::make(std::make_unique<SocketLink>(std::move(fd)), connections_, limits_, std::move(*ticket)));
  return lack == 0 ? Turn::accepted : Turn::displaced;
}

// Handles a failed accept. If even the spare descriptor is gone, another thread took it first, and room is made.
AcceptLoop::Turn AcceptLoop::none_accepted(int error) {
  if (error == EAGAIN || error == EWOULDBLOCK) return Turn::drained;
  if (is_passing(error)) return Turn::refused;
  if (os::is_out_of_descriptors(error)) (void)make_room(error);
  return Turn::starved;
}

// Returns a ticket, or why there is none. `lack`: the errno of accept4 if no descriptor was left; 0: one was.
Expected<ConnectionLimiter::Ticket, std::string> AcceptLoop::place_for(const std::string& peer, int lack) {
  auto ticket = limiter_->enter(peer);
  if (!ticket && evict([&] { return limiter_->evict_idle(peer); })) {
    if (may_say(crowded_)) os::log::info("closing an idle connection to make room for " + peer + ": " + ticket.error());
    return limiter_->enter(peer);
  }
  if (ticket && lack != 0 && !make_room(lack)) return os::out_of_descriptors(lack) + "; no connection is idle";
  return ticket;
}

// Runs on the thread of the connections. When this returns, a connection that ended there has given its descriptors
// back, unless this is that thread.
template <typename Ask>
bool AcceptLoop::evict(Ask ask) {
  bool made_room = false, lacks_memory = false;
  const auto try_it = [&] {
    try {
      made_room = ask();
    } catch (const std::bad_alloc&) {
      lacks_memory = true;
    }
  };
  connections_->run_and_wait(try_it);
  if (lacks_memory) throw std::bad_alloc();
  if (made_room) connections_->run_and_wait([] {});  // runs after what was posted
  return made_room;
}

bool AcceptLoop::make_room(int lack) {
  if (!evict([&] { return limiter_->evict_quietest(); })) return false;
  if (may_say(starving_))
    os::log::warn(os::out_of_descriptors(lack) + "; until then idle connections are closed to make room");
  return true;
}

// An empty socket takes the farewell at once, or its peer has gone.
void AcceptLoop::turn_away(const os::Fd& fd, const std::string& why) {
  (void)!::send(fd.get(), limits_.farewell.data(), limits_.farewell.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  if (may_say(refusing_)) os::log::warn("connection from " + why);
}

// Pauses when memory or even the spare descriptor is used up. The waiting connections keep the socket readable, so
// trying at once would spin.
void AcceptLoop::pause_on_reactor() {
  if (may_say(starving_)) os::log::warn("out of file descriptors or memory: new connections have to wait");
  insist([this] {
    reactor_->schedule(os::now() + starved_pause, [weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->start_on_reactor();
    });
  });
}

Expected<std::unique_ptr<Listener>> StreamListener::start(std::shared_ptr<AcceptLoop> loop, Endpoint endpoint) {
  if (!loop->hold_spare()) {
    os::log::error(to_string(endpoint) + ": " + os::out_of_descriptors(errno));
    return errors::no_descriptor;
  }
  if (!loop->reactor()->post([loop] { loop->start_on_reactor(); }))
    return Error{.kind = ErrorKind::bad_inv_order, .minor = minor::shutting_down};
  return std::unique_ptr<Listener>(new StreamListener(std::move(loop), std::move(endpoint)));
}

void StreamListener::stop() noexcept {
  const auto stop_loop = [loop = loop_] { loop->stop_on_reactor(); };
  if (!loop_->reactor()->run_and_wait(stop_loop)) stop_loop();  // the reactor's thread has ended, so this one does it
}

}  // namespace corelane::transport
