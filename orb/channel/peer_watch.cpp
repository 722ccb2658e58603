#include "orb/channel/peer_watch.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <string>
#include <utility>

#include "orb/os/machine/host.h"

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77  // Linux 6.5
#endif

namespace corelane::channel {
namespace {

bool has(const pollfd& watched, int events) noexcept { return (watched.revents & events) != 0; }

bool hung_up(int socket) noexcept {
  pollfd watched{socket, POLLRDHUP, 0};
  return poll(&watched, 1, 0) < 0 || has(watched, POLLRDHUP | POLLHUP | POLLERR | POLLNVAL);
}

// Opens a pidfd of the peer. On an older kernel it is opened by number. The number belongs to the peer as long as the
// socket is not hung up.
os::Fd open_process(int socket, std::int32_t process) noexcept {
  int fd = -1;
  socklen_t size = sizeof fd;
  if (getsockopt(socket, SOL_SOCKET, SO_PEERPIDFD, &fd, &size) == 0) return os::Fd(fd);
  if (process <= 0) return {};
  os::Fd opened(static_cast<int>(syscall(SYS_pidfd_open, process, 0)));
  return hung_up(socket) ? os::Fd() : std::move(opened);
}

// Returns the number of the process in its own namespace, which is the last one of field NSpid. Returns 0 if /proc does
// not tell.
std::int32_t own_number_of(std::int32_t process) {
  std::ifstream status("/proc/" + std::to_string(process) + "/status");
  std::string line;
  while (std::getline(status, line)) {  // bound: a page of text
    if (!line.starts_with("NSpid:")) continue;
    std::istringstream numbers(line.substr(6));
    std::int32_t number = 0;
    for (std::int32_t next; numbers >> next;) number = next;
    return number;
  }
  return 0;
}

// Returns whether that process, as numbered here, is the claimed one. In another pid namespace a different process may
// have the same number. So the start time must match, too. If the time namespaces differ, the start times differ, and
// the claim is not believed.
bool is_claimed(std::int32_t process, const ProcessClaim& claim) {
  if (process <= 0) return false;
  if (process == claim.number) return true;
  if (own_number_of(process) != claim.number || claim.start_ticks == 0) return false;
  const auto found = os::identity_of(process);
  return found && found->start_ticks == claim.start_ticks;
}

}  // namespace

Peer peer_of(const os::Fd& socket) noexcept {
  ucred found{};
  socklen_t size = sizeof found;
  if (getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &found, &size) != 0) return {};
  return {found.pid, found.uid, found.gid};
}

PeerWatch::PeerWatch(os::PeerSocket socket, const ProcessClaim& claim)
    : socket_(std::move(socket)), peer_(peer_of(socket_)) {
  os::refuse_descriptors(socket_.get());
  if (is_claimed(peer_.process, claim)) process_ = open_process(socket_.get(), peer_.process);
}

bool PeerWatch::is_gone() const noexcept {
  pollfd watched[] = {{socket_.get(), POLLRDHUP, 0}, {process_.get(), POLLIN, 0}};  // poll() ignores a negative one
  if (poll(watched, 2, 0) < 0) return false;
  return has(watched[0], POLLRDHUP | POLLHUP | POLLERR | POLLNVAL) || has(watched[1], POLLIN | POLLHUP);
}

}  // namespace corelane::channel
