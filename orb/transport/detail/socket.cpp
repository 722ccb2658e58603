#include "orb/transport/detail/socket.h"

#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include "orb/base/errors.h"
#include "orb/base/minor.h"
#include "orb/os/clock.h"
#include "orb/os/peers/passed_descriptors.h"
#include "orb/os/wait/spin_guard.h"
#include "orb/os/wait/wait_loop.h"

namespace corelane::transport {
namespace {

using errors::address_in_use;
using errors::deadline_passed;
constexpr Error denied{.kind = ErrorKind::no_permission, .minor = minor::listen_denied};
constexpr Error elsewhere{.kind = ErrorKind::bad_param, .minor = minor::address_not_here};
using errors::bad_address;

// A blocking recv returns after this time without bytes. While more time is left until the deadline, one blocking recv
// saves the poll before it. The rest is polled with the exact time. Below a second: see configure_stream().
constexpr std::chrono::milliseconds receive_timeout{20};

// The kernel ends a TCP connection after this time without an acknowledgement.
constexpr std::chrono::milliseconds vanished_after = std::chrono::minutes{1};

constexpr std::size_t parts_per_call = 16;

bool would_block(int error) noexcept { return error == EAGAIN || error == EWOULDBLOCK; }

template <typename T>
void set_option(int fd, int level, int name, T value) noexcept {
  setsockopt(fd, level, name, &value, sizeof value);
}

// Calls recv(), but leaves it to another thread to close descriptors that come along.
[[gnu::hot]] ssize_t receive_bytes(int fd, MutableBytes buffer, int flags, Beside beside) noexcept {
  if (beside == Beside::nothing) return recv(fd, buffer.data(), buffer.size(), flags);
  alignas(cmsghdr) std::array<std::byte, os::passed_room> control;
  iovec vector{buffer.data(), buffer.size()};
  msghdr message{};
  message.msg_iov = &vector;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  const ssize_t count = recvmsg(fd, &message, flags | MSG_CMSG_CLOEXEC);
  if (count >= 0) os::close_passed(message);
  return count;
}

// A call that waits also ends at a signal, because frequent signals must not keep the caller from its deadline.
// If the peer of a Unix socket closed while it had unread bytes of this end, the system reports that once. Then it
// returns what the peer sent until then.
[[gnu::hot]] IoResult receive_with(int fd, MutableBytes buffer, int flags, Beside beside) noexcept {
  const bool waits = (flags & MSG_DONTWAIT) == 0;
  bool reset = false;
  // Bound: EINTR, one turn for each signal; and one turn after a reset.
  while (true) {
    const ssize_t count = receive_bytes(fd, buffer, flags, beside);
    if (count == 0 && reset) return {Io::failed};
    if (count >= 0) return {Io::done, static_cast<std::size_t>(count)};
    if (errno == ECONNRESET && !std::exchange(reset, true)) continue;
    if (would_block(errno) || (waits && errno == EINTR)) return {Io::would_block};
    if (errno != EINTR) return {Io::failed};
  }
}

Duration on_realtime_clock(const timespec& time) noexcept {
  return std::chrono::seconds{time.tv_sec} + Duration{time.tv_nsec};
}

// Returns when the stamp of the message was made, or nothing if there is none. Reads the monotonic clock last. So an
// interruption in between makes the result later, never earlier than the bytes came.
std::optional<Time> time_of_stamp(msghdr& message) noexcept {
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr; header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_TIMESTAMPNS) continue;
    timespec stamp{}, now{};
    std::memcpy(&stamp, CMSG_DATA(header), sizeof stamp);
    if (clock_gettime(CLOCK_REALTIME, &now) != 0) return std::nullopt;
    return moment_of(stamp, now, os::now());
  }
  return std::nullopt;
}

struct Gathered {
  std::array<iovec, parts_per_call> vector;
  std::size_t count = 0;
  std::size_t bytes = 0;
};

// Returns the next parts after the first `skip` bytes.
Gathered gather(std::span<const Bytes> parts, std::size_t skip) noexcept {
  Gathered found;
  for (const Bytes part : parts) {
    const std::size_t skipped = std::min(skip, part.size());
    skip -= skipped;
    const Bytes rest = part.subspan(skipped);
    if (rest.empty()) continue;
    if (found.count == parts_per_call) break;
    found.vector[found.count++] = {const_cast<std::byte*>(rest.data()), rest.size()};
    found.bytes += rest.size();
  }
  return found;
}

// Sends one part without sendmsg(), which takes 0.15 us longer to check a vector.
ssize_t send_gathered(int fd, Gathered& parts) noexcept {
  constexpr int flags = MSG_DONTWAIT | MSG_NOSIGNAL;
  if (parts.count == 1) return send(fd, parts.vector[0].iov_base, parts.vector[0].iov_len, flags);
  msghdr message{};
  message.msg_iov = parts.vector.data();
  message.msg_iovlen = parts.count;
  return sendmsg(fd, &message, flags);
}

// Sets the time until the deadline, or at least the shortest time that the option knows, because 0 would mean for ever.
void set_send_timeout(int fd, Time deadline) noexcept {
  timespec left = deadline == never ? timespec{} : os::to_timespec(os::left_until(deadline));
  if (deadline != never && left.tv_sec == 0) left.tv_nsec = std::max(left.tv_nsec, 1000L);
  set_option(fd, SOL_SOCKET, SO_SNDTIMEO, timeval{.tv_sec = left.tv_sec, .tv_usec = left.tv_nsec / 1000});
}

Address address_by(int fd, int (*ask)(int, sockaddr*, socklen_t*)) noexcept {
  Address address;
  if (ask(fd, address.native(), &address.length) != 0) address = {};
  return address;
}

// Returns whether the socket is connected to itself. A connect to a free local port can do that, if the kernel picks
// that port for this end.
bool met_itself(int fd) noexcept {
  const Address here = address_by(fd, getsockname), there = address_by(fd, getpeername);
  return here.length == there.length && std::memcmp(&here.storage, &there.storage, here.length) == 0;
}

Expected<void> finish_connect(int fd, Time deadline) noexcept {
  if (!poll_until(fd, POLLOUT, deadline)) return deadline_passed;
  int failure = 0;
  socklen_t size = sizeof failure;
  if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &failure, &size) != 0 || failure != 0) return errors::connect_failed;
  return {};
}

// Connects to a Unix socket. If the listener's queue is full, connect() waits for the time that a send may take. For
// TCP it would continue in the background.
Expected<os::Fd> connect_unix(const Address& address, Time deadline, const ConnectStop* stop) noexcept {
  os::Fd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd) return no_descriptor_or(errors::connect_failed);
  os::refuse_descriptors(fd.get());
  // Bound: the deadline; EINTR, one turn for each signal.
  while (true) {
    if (stop != nullptr && stop->stopped()) return errors::connect_failed;
    // No call wakes a thread that waits here. So a connect that may be stopped wakes up again and again to check.
    set_send_timeout(fd.get(), next_look(stop, deadline));
    if (connect(fd.get(), address.native(), address.length) == 0) break;
    if (errno != EAGAIN && errno != EINTR) return errors::connect_failed;
    if (os::left_until(deadline) == Duration::zero()) return deadline_passed;
  }
  configure_stream(fd.get(), AF_UNIX);
  return fd;
}

Error why_not_listening(int code) noexcept {
  switch (code) {
    case EADDRINUSE:
      return address_in_use;
    case EACCES:
    case EPERM:
      return denied;
    case EADDRNOTAVAIL:
      return elsewhere;
    default:
      return bad_address;
  }
}

// Returns the core from which the last bytes were sent, as far as it is known. Over TCP it is the core on which the
// stream's packets came in; on the loopback that is the sender's. For a Unix socket it is the core that the peer is
// bound to.
CoreId sender_core(int fd, const std::optional<PeerCredentials>& peer) noexcept {
  if (peer) return os::only_core_of(peer->process);
  int core = -1;
  socklen_t size = sizeof core;
  if (getsockopt(fd, SOL_SOCKET, SO_INCOMING_CPU, &core, &size) != 0 || core < 0) return no_core;
  return CoreId{static_cast<std::int16_t>(core)};
}

}  // namespace

bool poll_until(int fd, short events, Time deadline) noexcept {
  // Bound: EINTR, one turn for each signal.
  while (true) {
    pollfd entry{.fd = fd, .events = events, .revents = 0};
    const Duration left = os::left_until(deadline);
    const timespec wait = os::to_timespec(left);
    const int ready = ppoll(&entry, 1, deadline == never ? nullptr : &wait, nullptr);
    if (ready > 0) return true;
    if (ready == 0 || errno != EINTR) return false;
  }
}

IoResult receive_some(int fd, MutableBytes buffer, Beside beside) noexcept {
  return receive_with(fd, buffer, MSG_DONTWAIT, beside);
}

IoResult receive_stamped(int fd, MutableBytes buffer, Time& arrived, Beside beside) noexcept {
  alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(sizeof(timespec)) + os::passed_room> control;
  iovec vector{buffer.data(), buffer.size()};
  // Bound: EINTR, one turn for each signal.
  while (true) {
    msghdr message{};
    message.msg_iov = &vector;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    const ssize_t count = recvmsg(fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (count >= 0) {
      if (beside == Beside::descriptors) os::close_passed(message);
      arrived = time_of_stamp(message).value_or(os::now());
      return {Io::done, static_cast<std::size_t>(count)};
    }
    if (would_block(errno)) return {Io::would_block};
    if (errno != EINTR) return {Io::failed};
  }
}

Time moment_of(const timespec& stamp, const timespec& realtime, Time now) noexcept {
  return now - std::max(on_realtime_clock(realtime) - on_realtime_clock(stamp), Duration::zero());
}

void stamp_arrivals(int fd) noexcept { set_option(fd, SOL_SOCKET, SO_TIMESTAMPNS, 1); }

[[gnu::hot]] IoResult send_some(int fd, std::span<const Bytes> parts) noexcept {
  IoResult result;
  // Bound: each turn sends something, or ends, or was interrupted by a signal.
  while (true) {
    Gathered next = gather(parts, result.count);
    if (next.count == 0) return result;
    const ssize_t sent = send_gathered(fd, next);
    if (sent >= 0) {
      result.count += static_cast<std::size_t>(sent);
    } else if (would_block(errno) || errno == ENOBUFS || errno == ENOMEM) {
      return result.outcome = Io::would_block, result;
    } else if (errno != EINTR) {
      return result.outcome = Io::failed, result;
    }
  }
}

[[gnu::hot]] IoResult receive_until(int fd, MutableBytes buffer, Time deadline, os::WaitStrategy strategy,
                                    os::AdaptiveSpin& learnt, std::optional<PeerCredentials> peer,
                                    Beside beside) noexcept {
  if (deadline == Time{}) return receive_some(fd, buffer, beside);
  IoResult result{Io::would_block};
  // The common case reads the clock once.
  if (strategy.mode == os::WaitMode::park && (deadline == never || deadline - os::now() > receive_timeout)) {
    result = receive_with(fd, buffer, 0, beside);
    if (result.outcome != Io::would_block) return result;
  }
  // Blocks once only: if bytes come soon, that saves a poll; bytes that come late need no further timeouts.
  bool may_block = true;
  const auto poll = [&] {
    result = receive_some(fd, buffer, beside);
    return result.outcome != Io::would_block;
  };
  const auto sleep = [&](Time until) {
    const bool blocking = std::exchange(may_block, false) && (until == never || until - os::now() > receive_timeout);
    if (!blocking && !poll_until(fd, POLLIN, until)) return false;
    result = receive_with(fd, buffer, blocking ? 0 : MSG_DONTWAIT, beside);
    return result.outcome != Io::would_block;
  };
  const auto sleep_until = [&](Time until) {
    // Bound: the time. Each turn but the last waits for a whole receive_timeout, or until bytes or a signal come.
    while (!sleep(until))
      if (os::now() >= until) return false;
    return true;
  };
  os::wait_for(deadline, strategy, learnt, poll, sleep_until, [&] { return sender_core(fd, peer); });
  return result;
}

void configure_stream(int fd, int family) noexcept {
  set_option(fd, SOL_SOCKET, SO_RCVTIMEO,
             timeval{.tv_sec = 0, .tv_usec = std::chrono::microseconds(receive_timeout).count()});
  if (family != AF_INET && family != AF_INET6) return;
  set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  set_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
  // With these values a host that vanished is noticed after a minute. By default that would take two hours. If
  // something sent is not acknowledged yet, it would take a quarter of an hour, since then the kernel sends no probes.
  // The kernel cannot distinguish a peer that takes nothing from one that has vanished.
  set_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, 30);
  set_option(fd, IPPROTO_TCP, TCP_KEEPINTVL, 10);
  set_option(fd, IPPROTO_TCP, TCP_KEEPCNT, 3);
  set_option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, static_cast<unsigned>(vanished_after.count()));
}

Error no_descriptor_or(Error otherwise) noexcept {
  if (errno != EMFILE && errno != ENFILE) return otherwise;
  return errors::no_descriptor;
}

Expected<os::Fd> connect_stream(const Address& address, Time deadline, ConnectStop* stop) noexcept {
  if (address.family() == AF_UNIX) return connect_unix(address, deadline, stop);
  os::Fd fd(socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return no_descriptor_or(errors::connect_failed);
  if (connect(fd.get(), address.native(), address.length) != 0) {
    if (errno != EINPROGRESS && errno != EINTR) return errors::connect_failed;
    const ConnectStop::Scope stoppable(stop, fd.get());
    if (const auto connected = finish_connect(fd.get(), deadline); !connected) return connected.error();
  }
  if (met_itself(fd.get())) return errors::connect_failed;
  if (fcntl(fd.get(), F_SETFL, 0) != 0) return errors::connect_failed;  // blocking from now on: see receive_until()
  configure_stream(fd.get(), address.family());
  return fd;
}

Expected<os::Fd> listen_stream(const Address& address) noexcept {
  os::Fd fd(socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return no_descriptor_or(bad_address);
  set_option(fd.get(), SOL_SOCKET, SO_REUSEADDR, 1);  // so that a restarted server gets its port again
  if (address.family() == AF_INET6) set_option(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, 0);
  if (bind(fd.get(), address.native(), address.length) != 0 || listen(fd.get(), SOMAXCONN) != 0)
    return why_not_listening(errno);
  return fd;
}

std::optional<PeerCredentials> peer_credentials(int fd) noexcept {
  ucred found{};
  socklen_t size = sizeof found;
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &found, &size) != 0 || found.pid == 0) return std::nullopt;
  return PeerCredentials{.process = found.pid, .user = found.uid};
}

Endpoint local_endpoint(int fd) { return endpoint_of(address_by(fd, getsockname)); }
Endpoint peer_endpoint(int fd) { return endpoint_of(address_by(fd, getpeername)); }

}  // namespace corelane::transport
