#include "orb/transport/detail/socket_link.h"

#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cstddef>
#include <utility>

#include "orb/os/peers/passed_descriptors.h"
#include "orb/os/peers/peer_groups.h"
#include "orb/transport/detail/socket.h"

namespace corelane::transport {
namespace {

int family_of(int fd) noexcept {
  int family = AF_UNSPEC;
  socklen_t size = sizeof family;
  (void)getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &family, &size);
  return family;
}

}  // namespace

SocketLink::SocketLink(os::Fd fd)
    : fd_(std::move(fd)),
      family_(family_of(fd_.get())),
      beside_(is_unix() && os::takes_descriptors(fd_.get()) ? Beside::descriptors : Beside::nothing),
      credentials_(is_unix() ? peer_credentials(fd_.get()) : std::nullopt) {
  if (beside_ == Beside::descriptors) os::refuse_descriptors(fd_.get());
}

SocketLink::~SocketLink() {
  if (beside_ == Beside::descriptors) os::close_socket(std::move(fd_));
}

bool SocketLink::is_unix() const noexcept { return family_ == AF_UNIX; }
bool SocketLink::is_tcp() const noexcept { return family_ == AF_INET || family_ == AF_INET6; }

std::vector<gid_t> SocketLink::groups() const { return is_unix() ? os::peer_groups(fd_.get()) : std::vector<gid_t>{}; }

IoResult SocketLink::receive_some(MutableBytes buffer, BorrowedBytes*) noexcept {
  return transport::receive_some(fd_.get(), buffer, beside_);
}

[[gnu::hot]] IoResult SocketLink::receive_until(MutableBytes buffer, Time deadline, os::WaitStrategy strategy,
                                                BorrowedBytes*) noexcept {
  return transport::receive_until(fd_.get(), buffer, deadline, strategy, learnt_, credentials_, beside_);
}

IoResult SocketLink::take(MutableBytes buffer, Time& arrived, BorrowedBytes*) noexcept {
  if (!std::exchange(stamped_, true) && is_tcp()) stamp_arrivals(fd_.get());
  return receive_stamped(fd_.get(), buffer, arrived, beside_);
}

[[gnu::hot]] IoResult SocketLink::send_some(std::span<const Bytes> parts) noexcept {
  return transport::send_some(fd_.get(), parts);
}

void SocketLink::shut() noexcept { shutdown(fd_.get(), SHUT_RDWR); }

void SocketLink::finish_sending() noexcept { shutdown(fd_.get(), SHUT_WR); }

// What TCP has sent can still be lost until the peer acknowledges it. If the peer sends a message that this end does
// not read any more, the kernel resets the connection. A Unix socket puts the bytes into the peer's queue at once.
// Other families do so, or answer like TCP.
bool SocketLink::has_arrived() const noexcept {
  int unacknowledged = 0;
  return is_unix() || ioctl(fd_.get(), SIOCOUTQ, &unacknowledged) != 0 || unacknowledged == 0;
}

bool SocketLink::has_unread() noexcept {
  int bytes = 0;
  if (ioctl(fd_.get(), FIONREAD, &bytes) == 0) return bytes > 0;
  std::byte first{};  // a family without this request
  return recv(fd_.get(), &first, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
}

// Returns true for TCP alone. A read from a Unix socket stops where descriptors came with the bytes, or (SO_PASSCRED)
// where the sender changes. Of other families it is not known.
bool SocketLink::tells_of_more() const noexcept { return is_tcp(); }

Endpoint SocketLink::local() const { return local_endpoint(fd_.get()); }
Endpoint SocketLink::peer() const { return peer_endpoint(fd_.get()); }

}  // namespace corelane::transport
