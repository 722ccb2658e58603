#include "services/nameserver/stores/http/net_stream.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "orb/os/clock.h"
#include "services/nameserver/stores/http/socket_wait.h"

namespace corelane::nameserver {
namespace {

std::string text_of_errno(int number) { return std::generic_category().message(number); }

// Makes the kernel detect within some ten seconds that the server's machine is gone.
void watch_over(int socket) {
  const auto set = [&](int level, int option, int value) { setsockopt(socket, level, option, &value, sizeof value); };
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, 4);
  set(IPPROTO_TCP, TCP_KEEPINTVL, 2);
  set(IPPROTO_TCP, TCP_KEEPCNT, 3);
  set(IPPROTO_TCP, TCP_USER_TIMEOUT, 10'000);
  set(IPPROTO_TCP, TCP_NODELAY, 1);
}

Progress progress_of_call(ssize_t result, Progress::State otherwise) {
  if (result >= 0) return {.bytes = static_cast<std::size_t>(result)};
  if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) return {.state = otherwise};
  return {.state = Progress::State::failed, .fault = text_of_errno(errno)};
}

}  // namespace

NetStream::NetStream() : stopped_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

Expected<void, std::string> NetStream::connect(const HttpEndpoint& endpoint, HostLookup& lookup, const TlsContext* tls,
                                               Time deadline) {
  close();
  // If the resolver does not answer, half of the time is left for the last known addresses.
  const Time half = os::now() + (deadline - os::now()) / 2;
  const auto addresses = lookup.find(endpoint, half, stopped_.get());
  if (!addresses) return addresses.error();
  std::string why;
  for (std::size_t i = 0; i < addresses->size() && !is_connected(); ++i) {
    const Time now = os::now();
    const auto share = (deadline - now) / static_cast<Duration::rep>(addresses->size() - i);
    const auto done = connect_to((*addresses)[i], std::min(deadline, now + share));
    if (!done) why = done.error();
  }
  if (!is_connected()) return lookup.distrust(endpoint), why;
  watch_over(socket_.get());
  return tls == nullptr ? Expected<void, std::string>{} : start_tls(endpoint, *tls, deadline);
}

Expected<void, std::string> NetStream::connect_to(const HostAddress& address, Time deadline) {
  socket_.reset(::socket(address.native.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const auto failed = [this](int number) { return socket_.reset(), text_of_errno(number); };
  if (!socket_) return failed(errno);
  if (::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&address.native), address.length) == 0) return {};
  if (errno != EINPROGRESS) return failed(errno);
  if (const auto fault = wait(POLLOUT, deadline)) return socket_.reset(), *fault;
  int number = 0;
  socklen_t size = sizeof number;
  getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &number, &size);
  if (number != 0) return failed(number);
  return {};
}

Expected<void, std::string> NetStream::start_tls(const HttpEndpoint& endpoint, const TlsContext& tls, Time deadline) {
  tls_ = std::make_unique<TlsSession>(tls, socket_.get(), endpoint.host);
  const auto shaken = until_done([this] { return tls_->shake_hands(); }, deadline);
  if (shaken) return {};
  close();
  return shaken.error();
}

void NetStream::close() {
  tls_.reset();
  socket_.reset();
}

std::optional<std::string> NetStream::wait(short events, Time deadline) const {
  switch (wait_for_socket(socket_.get(), events, stopped_.get(), deadline)) {
    case SocketWait::ready:
      return std::nullopt;
    case SocketWait::too_late:
      return text_of_errno(ETIMEDOUT);
    case SocketWait::stopped:
      break;
  }
  return text_of_errno(ECANCELED);
}

// Bound: the deadline; each iteration waits, or is the last.
template <typename Try>
Expected<std::size_t, std::string> NetStream::until_done(Try&& attempt, Time deadline) {
  while (true) {
    const Progress progress = attempt();
    if (progress.state == Progress::State::done) return progress.bytes;
    if (progress.state == Progress::State::ended) return std::size_t{0};
    if (progress.state == Progress::State::failed) return progress.fault;
    const short events = progress.state == Progress::State::wants_to_write ? POLLOUT : POLLIN;
    if (const auto fault = wait(events, deadline)) return *fault;
  }
}

Expected<std::size_t, std::string> NetStream::read_some(std::span<char> bytes, Time deadline) {
  return until_done(
      [&] {
        if (tls_) return tls_->read(bytes);
        return progress_of_call(recv(socket_.get(), bytes.data(), bytes.size(), 0), Progress::State::wants_to_read);
      },
      deadline);
}

Expected<void, std::string> NetStream::write(std::string_view bytes, Time deadline) {
  while (!bytes.empty()) {
    const auto written = until_done(
        [&] {
          if (tls_) return tls_->write(bytes);
          return progress_of_call(send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
                                  Progress::State::wants_to_write);
        },
        deadline);
    if (!written) return written.error();
    if (*written == 0) return std::string("it closed the connection");
    bytes.remove_prefix(*written);
  }
  return {};
}

bool NetStream::is_idle() const {
  if (tls_) return tls_->is_idle();
  char unasked = 0;
  return is_connected() && recv(socket_.get(), &unasked, 1, MSG_PEEK | MSG_DONTWAIT) < 0 &&
         (errno == EAGAIN || errno == EWOULDBLOCK);
}

void NetStream::stop() { eventfd_write(stopped_.get(), 1); }

}  // namespace corelane::nameserver
