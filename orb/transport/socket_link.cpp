#include "orb/transport/detail/socket_link.h"

#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <utility>

#include "orb/os/peers/passed_descriptors.h"
#include "orb/os/peers/peer_groups.h"
#include "orb/transport/detail/socket.h"

namespace corelane::transport {

SocketLink::SocketLink(os::Fd fd)
    : fd_(std::move(fd)),
      is_unix_(local_endpoint(fd_.get()).kind == EndpointKind::unix_socket),
      beside_(is_unix_ && os::takes_descriptors(fd_.get()) ? Beside::descriptors : Beside::nothing),
      credentials_(is_unix_ ? peer_credentials(fd_.get()) : std::nullopt) {
  if (beside_ == Beside::descriptors) os::refuse_descriptors(fd_.get());
}

SocketLink::~SocketLink() {
  if (beside_ == Beside::descriptors) os::close_socket(std::move(fd_));
}

std::vector<gid_t> SocketLink::groups() const { return is_unix_ ? os::peer_groups(fd_.get()) : std::vector<gid_t>{}; }

IoResult SocketLink::receive_some(MutableBytes buffer, BorrowedBytes*) noexcept {
  return transport::receive_some(fd_.get(), buffer, beside_);
}

IoResult SocketLink::receive_until(MutableBytes buffer, Time deadline, os::WaitStrategy strategy,
                                   BorrowedBytes*) noexcept {
  return transport::receive_until(fd_.get(), buffer, deadline, strategy, learnt_, credentials_, beside_);
}

IoResult SocketLink::take(MutableBytes buffer, Time& arrived, BorrowedBytes*) noexcept {
  if (!std::exchange(stamped_, true) && !is_unix_) stamp_arrivals(fd_.get());
  return receive_stamped(fd_.get(), buffer, arrived, beside_);
}

IoResult SocketLink::send_some(std::span<const Bytes> parts) noexcept { return transport::send_some(fd_.get(), parts); }

void SocketLink::shut() noexcept { shutdown(fd_.get(), SHUT_RDWR); }

void SocketLink::finish_sending() noexcept { shutdown(fd_.get(), SHUT_WR); }

// What TCP has sent can still be lost until the peer acknowledges it. If the peer sends a message that this end does
// not read any more, the kernel resets the connection. A Unix socket puts the bytes into the peer's queue at once.
bool SocketLink::has_arrived() const noexcept {
  int unacknowledged = 0;
  return is_unix_ || ioctl(fd_.get(), SIOCOUTQ, &unacknowledged) != 0 || unacknowledged == 0;
}

bool SocketLink::has_unread() noexcept {
  int bytes = 0;
  return ioctl(fd_.get(), FIONREAD, &bytes) == 0 && bytes > 0;
}

// Returns false for a Unix socket. A read there stops where descriptors came with the bytes, or (SO_PASSCRED) where the
// sender changes.
bool SocketLink::tells_of_more() const noexcept { return !is_unix_; }

Endpoint SocketLink::local() const { return local_endpoint(fd_.get()); }
Endpoint SocketLink::peer() const { return peer_endpoint(fd_.get()); }

}  // namespace corelane::transport
