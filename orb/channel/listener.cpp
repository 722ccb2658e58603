#include "orb/channel/listener.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "orb/base/errors.h"
#include "orb/channel/ends/hello.h"
#include "orb/channel/ends/setup.h"
#include "orb/os/clock.h"

namespace corelane::channel {
namespace {

bool is_abstract(const std::string& path) noexcept { return path.starts_with('@'); }

SetupFault bad_address(const std::string& path, const std::string& what) {
  return {SetupFault::Kind::address, "channel at " + path + ": " + what};
}

Expected<os::UnixAddress, SetupFault> address_of(const std::string& path) {
  if (const auto address = os::unix_address(path)) return *address;
  return bad_address(path, "a path is absolute, or @ and an abstract name, and has at most 107 bytes");
}

os::Fd make_socket() noexcept { return os::Fd(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)); }

SetupFault no_socket(int number = errno) {
  return system_fault("no Unix socket", number,
                      os::is_out_of_descriptors(number) ? "raise ulimit -n" : "see the limits of memory");
}

SetupFault cannot_listen(const os::PathRefusal& refusal) {
  if (refusal.error == errors::no_descriptor) return no_socket(EMFILE);
  return bad_address(refusal.path, refusal.why);
}

Expected<os::Fd, SetupFault> listen_at_name(const std::string& path) {
  const auto address = address_of(path);
  if (!address) return address.error();
  os::Fd socket = make_socket();
  if (!socket) return no_socket();
  if (bind(socket.get(), address->generic(), address->length) != 0)
    return bad_address(path, std::string("it cannot be bound: ") + std::strerror(errno));
  if (::listen(socket.get(), SOMAXCONN) != 0) return no_socket();
  return socket;
}

SetupFault no_connection(const std::string& path) {
  return {SetupFault::Kind::timed_out, "no process connected to the channel at " + path + " in time"};
}

// Returns whether stop() has shut the socket down. Then it stays readable, but has no connection to accept.
bool is_shut(int socket) noexcept {
  pollfd watched{socket, POLLIN, 0};
  return poll(&watched, 1, 0) > 0 && (watched.revents & POLLHUP) != 0;
}

SetupFault was_stopped(const std::string& path) {
  return {SetupFault::Kind::stopped, "the listener at " + path + " was stopped"};
}

std::string name_of(const Peer& peer) {
  return "user " + std::to_string(peer.user) + " of process " + std::to_string(peer.process);
}

SetupFault said_of(const Peer& peer, SetupFault fault) {
  // A fault `denied` names the peer already.
  if (fault.kind != SetupFault::Kind::denied) fault.text = name_of(peer) + ": " + fault.text;
  return fault;
}

SetupFault cannot_connect(const std::string& path, int number) {
  if (number == ECONNREFUSED || number == ENOENT)
    return bad_address(path, "no process listens there; start the other end first");
  return system_fault("connecting to the channel at " + path, number, "see the permissions of that file");
}

}  // namespace

struct Listener::Pending {
  Acceptance handshake;
  Peer peer;
  Time until;
};

Listener::Listener(std::string path, const Options& options) : path_(std::move(path)), options_(options) {}
Listener::Listener(Listener&& other) noexcept = default;

Expected<Listener, SetupFault> Listener::listen(const std::string& path, const Options& options) {
  if (const auto right = check_options(options); !right) return right.error();
  if (!is_abstract(path)) return listen_at_file(path, options);
  auto socket = listen_at_name(path);
  if (!socket) return socket.error();
  return over(std::move(*socket), path, options);
}

Expected<Listener, SetupFault> Listener::listen_at_file(const std::string& path, const Options& options) {
  auto file = os::SocketPath::claim(path);
  if (!file) return cannot_listen(file.error());
  auto socket = file->listen(mode_for(options.access), SOCK_SEQPACKET);
  if (!socket) return cannot_listen(socket.error());
  Listener made = over(std::move(*socket), path, options);
  made.file_.emplace(std::move(*file));
  return made;
}

Listener Listener::over(os::Fd socket, const std::string& path, const Options& options) {
  Listener made(path, options);
  made.socket_ = std::move(socket);
  made.spare_.hold(made.socket_);
  return made;
}

// Accepts the connections that wait in the queue of a stopped socket. Closing that socket would close the descriptors
// that their peers have sent.
Listener::~Listener() {
  if (!socket_ || !is_shut(socket_.get())) return;
  spare_.give_up();
  while (os::PeerSocket waits{os::Fd(accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK))})
    continue;  // bound: the queue, which gets no new connections
}

void Listener::stop() noexcept { shutdown(socket_.get(), SHUT_RDWR); }

Expected<os::Fd, SetupFault> Listener::accept_socket(Time deadline) {
  // Bound: the deadline.
  while (wait_readable(socket_.get(), deadline)) {
    os::Fd connection(accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (connection) return connection;
    const int why = errno;
    if (is_shut(socket_.get())) return was_stopped(path_);
    if (why != EAGAIN && why != EINTR && why != ECONNABORTED) return no_socket(why);
  }
  return no_connection(path_);
}

Time Listener::earliest(Time deadline) const noexcept {
  for (const Pending& pending : pending_) deadline = std::min(deadline, pending.until);
  return deadline;
}

// Accepts a connection with the spare descriptor. Otherwise a peer that has already gone would stay in the queue, and
// keep others out.
Expected<os::PeerSocket, SetupFault> Listener::accept_by_spare(int lack) {
  spare_.give_up();
  auto incoming = accept_waiting();
  if (incoming) {
    const auto place = place_for(*incoming, lack);
    if (!place) {
      send_refusal(*incoming, place.error().text);
      incoming = place.error();
    }
  }
  spare_.hold(socket_);
  return incoming;
}

Expected<os::PeerSocket, SetupFault> Listener::accept_waiting() {
  auto connection = accept_socket(Time{});
  if (!connection) return connection.error();
  return os::PeerSocket(std::move(*connection));
}

// Makes room only for a peer on the access list, because this may close another peer's channel.
Expected<void, SetupFault> Listener::place_for(const os::Fd& incoming, int lack) {
  if (const auto welcome = check_access(incoming, options_); !welcome) return welcome;
  if (options_.free_descriptors && options_.free_descriptors()) return {};
  return SetupFault{SetupFault::Kind::denied, "the server has no room: " + os::out_of_descriptors(lack)};
}

Expected<os::PeerSocket, SetupFault> Listener::accept_connection() {
  auto incoming = accept_waiting();
  const int lack = incoming ? 0 : incoming.error().number;
  return os::is_out_of_descriptors(lack) ? accept_by_spare(lack) : std::move(incoming);
}

Expected<void, SetupFault> Listener::take_in(os::PeerSocket incoming) {
  const Peer peer = peer_of(incoming);
  auto let_in = check_access(incoming, options_);
  if (let_in && options_.admit_on_connect) let_in = options_.admit_on_connect(peer, incoming);
  if (!let_in) {
    send_refusal(incoming, let_in.error().text);
    return let_in;
  }
  pending_.push_back({Acceptance(std::move(incoming)), peer, os::now() + options_.handshake});
  if (pending_.size() > most_handshakes) return give_up_oldest();
  return {};
}

SetupFault Listener::give_up_oldest() {
  const auto handshakes_of = [&](const Pending& one) {
    return std::count_if(pending_.begin(), pending_.end(),
                         [&](const Pending& p) { return p.peer.user == one.peer.user; });
  };
  const auto oldest = std::max_element(pending_.begin(), pending_.end(), [&](const Pending& a, const Pending& b) {
    return handshakes_of(a) < handshakes_of(b);
  });
  const Peer peer = oldest->peer;
  SetupFault fault = oldest->handshake.give_up("too many channels are being set up; try again");
  fault.text +=
      "; " + std::to_string(handshakes_of(*oldest)) + " of " + std::to_string(pending_.size()) + " are this user's";
  pending_.erase(oldest);
  return said_of(peer, std::move(fault));
}

Expected<void, SetupFault> Listener::take_connection() {
  spare_.hold(socket_);  // the last time another thread may have taken the descriptor first
  auto connection = accept_connection();
  if (connection) return take_in(std::move(*connection));
  if (connection.error().kind == SetupFault::Kind::timed_out) return {};  // the peer has gone
  return connection.error();
}

std::optional<Expected<Channel, SetupFault>> Listener::advance(std::size_t index) {
  auto parts = pending_[index].handshake.advance(options_);
  if (!parts) return std::nullopt;
  const Peer peer = pending_[index].peer;
  pending_.erase(pending_.begin() + static_cast<std::ptrdiff_t>(index));
  if (!*parts) return said_of(peer, parts->error());
  return Channel::of(std::move(*parts), options_);
}

std::optional<SetupFault> Listener::give_up_late() {
  const Time now = os::now();
  // A peer whose packet has come meanwhile is served, because perhaps this thread was late.
  const auto late = std::find_if(pending_.begin(), pending_.end(), [&](const Pending& p) {
    return p.until <= now && !wait_readable(p.handshake.descriptor(), Time{});
  });
  if (late == pending_.end()) return std::nullopt;
  const SetupFault fault = said_of(late->peer, late->handshake.give_up());
  pending_.erase(late);
  return fault;
}

Expected<Channel, SetupFault> Listener::accept(Time deadline) {
  std::vector<pollfd> watched;
  // Bound: the deadline. Each turn takes a step of a handshake, or waits.
  while (true) {
    watched.clear();
    for (const Pending& pending : pending_) watched.push_back({pending.handshake.descriptor(), POLLIN, 0});
    watched.push_back({socket_.get(), POLLIN, 0});
    const timespec left = os::to_timespec(os::left_until(earliest(deadline)));
    const int ready = ppoll(watched.data(), watched.size(), &left, nullptr);
    // Handshakes come before new connections. They end whatever happens to new ones, and that frees descriptors.
    // From the back, because a handshake that ends leaves the list.
    for (std::size_t i = watched.size() - 1; ready > 0 && i-- > 0;)
      if (watched[i].revents != 0)
        if (auto done = advance(i)) return std::move(*done);
    if (auto late = give_up_late()) return std::move(*late);
    if (ready > 0 && watched.back().revents != 0)
      if (const auto taken = take_connection(); !taken) return taken.error();
    if (os::now() >= deadline) return no_connection(path_);
  }
}

Expected<os::Fd, SetupFault> connect_socket(const std::string& path, Time deadline) {
  const auto address = address_of(path);
  if (!address) return address.error();
  os::Fd socket = make_socket();
  if (!socket) return no_socket();
  while (::connect(socket.get(), address->generic(), address->length) != 0) {  // bound: the deadline
    if (errno != EAGAIN) return cannot_connect(path, errno);                   // EAGAIN: the listener's queue is full
    if (os::now() >= deadline) return SetupFault{SetupFault::Kind::timed_out, "too many wait at " + path};
    os::sleep_until(os::now() + std::chrono::milliseconds{1});
  }
  return socket;
}

Expected<Channel, SetupFault> Channel::connect(const std::string& path, const Options& options, Time deadline) {
  auto socket = connect_socket(path, deadline);
  if (!socket) return socket.error();
  return connect_over(std::move(*socket), options, deadline);
}

}  // namespace corelane::channel
