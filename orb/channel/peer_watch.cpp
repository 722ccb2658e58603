#include "orb/channel/peer_watch.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <utility>

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

// An older kernel opens it by number, which is the peer's own as long as the socket is not hung up.
os::Fd open_process(int socket, std::int32_t process) noexcept {
  int fd = -1;
  socklen_t size = sizeof fd;
  if (getsockopt(socket, SOL_SOCKET, SO_PEERPIDFD, &fd, &size) == 0) return os::Fd(fd);
  if (process <= 0) return {};
  os::Fd opened(static_cast<int>(syscall(SYS_pidfd_open, process, 0)));
  return hung_up(socket) ? os::Fd() : std::move(opened);
}

}  // namespace

Peer peer_of(const os::Fd& socket) noexcept {
  ucred found{};
  socklen_t size = sizeof found;
  if (getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &found, &size) != 0) return {};
  return {found.pid, found.uid, found.gid};
}

PeerWatch::PeerWatch(os::Fd socket, std::int32_t process) noexcept
    : socket_(std::move(socket)), peer_(peer_of(socket_)) {
  if (process == peer_.process) process_ = open_process(socket_.get(), process);
}

bool PeerWatch::is_gone() const noexcept {
  pollfd watched[] = {{socket_.get(), POLLRDHUP, 0}, {process_.get(), POLLIN, 0}};  // a negative one is passed over
  if (poll(watched, 2, 0) < 0) return false;
  return has(watched[0], POLLRDHUP | POLLHUP | POLLERR | POLLNVAL) || has(watched[1], POLLIN | POLLHUP);
}

}  // namespace corelane::channel
