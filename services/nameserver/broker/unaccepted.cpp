#include "services/nameserver/broker/unaccepted.h"

#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>

#include "services/nameserver/broker/protocol.h"

namespace corelane::nameserver {
namespace {

// Returns the bytes of packets that were sent but not received, as the kernel accounts for them.
std::size_t bytes_under_way(const os::Fd& socket) {
  int bytes = 0;
  return ioctl(socket.get(), SIOCOUTQ, &bytes) == 0 && bytes > 0 ? static_cast<std::size_t>(bytes) : 0;
}

// Returns what the kernel accounts for the shortest packet. If the kernel does not tell, returns 1; then no packet
// counts as received before all are.
std::size_t bytes_of_one() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return 1;
  const os::Fd from(ends[0]), to(ends[1]);
  (void)send_message(from, channel_text({}));
  return std::max<std::size_t>(1, bytes_under_way(from));
}

}  // namespace

void Unaccepted::look(const os::Fd& socket) {
  static const std::size_t of_one = bytes_of_one();
  const std::size_t left = (bytes_under_way(socket) + of_one - 1) / of_one;
  while (askers_.size() > left) askers_.pop_front();
}

std::size_t Unaccepted::of(uid_t asker) const { return static_cast<std::size_t>(std::ranges::count(askers_, asker)); }

}  // namespace corelane::nameserver
