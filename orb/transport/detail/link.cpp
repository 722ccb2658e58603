#include "orb/transport/detail/link.h"

#include <poll.h>

#include "orb/transport/detail/socket.h"

namespace corelane::transport {

Connection::PeerEnd Link::peer_end() const noexcept {
  pollfd end{.fd = hang_up_descriptor(), .events = POLLRDHUP, .revents = 0};
  if (poll(&end, 1, 0) <= 0) return Connection::PeerEnd::none;
  return (end.revents & (POLLHUP | POLLERR)) != 0 ? Connection::PeerEnd::both_directions
                                                  : Connection::PeerEnd::sends_nothing;
}

bool Link::wait_writable(Time until) const noexcept { return poll_until(bytes_descriptor(), POLLOUT, until); }

bool Link::has_bytes() const noexcept {
  pollfd unread{.fd = descriptor(), .events = POLLIN, .revents = 0};
  return poll(&unread, 1, 0) != 0;
}

}  // namespace corelane::transport
