// What to do about descriptors that others send along over a Unix socket (SCM_RIGHTS). Closing the last descriptor of a
// file takes as long as its maker wants: a TCP socket with SO_LINGER waits for its peer, a file of FUSE for a process.
// It is closed by whoever reads without room for descriptors, and by whoever closes a socket in which one lies unread,
// too. So nothing that was passed, and was not found to be harmless, may be closed on a thread that is waited for.
//
// Threads: any; what says so hands the closing to a thread `corelane-closer`, of which a process has one at a time and
// only while there is something to close.
#pragma once

#include <sys/socket.h>

#include <cstddef>
#include <utility>

#include "orb/os/fd.h"

namespace corelane::os {

// From now on the kernel refuses (EPERM, for the sender) what brings descriptors to this Unix socket; if it listens,
// also to those that are accepted from it. False: the kernel is older than 6.16.
bool refuse_descriptors(int socket) noexcept;
// Whether somebody may send descriptors to it, or have sent: asked before the first refuse_descriptors().
bool takes_descriptors(int socket) noexcept;
// Whether it does that; asked once.
bool kernel_refuses_descriptors() noexcept;

// For those who read where it does not: room in a message for all that a packet can bring, and the hand-over of it.
inline constexpr std::size_t passed_room = CMSG_SPACE(sizeof(int) * 253);  // SCM_MAX_FD
void close_passed(msghdr& message) noexcept;

// What the next packet of a Unix socket without SO_PASSCRED is; it stays there. plain: or the other end has hung up.
enum class NextPacket : unsigned char { none, plain, with_descriptors };
NextPacket look_at_packet(int socket) noexcept;

// By the closer's thread; by this one if that has too much to do, or there is no memory for it.
void close_elsewhere(Fd descriptor) noexcept;
// A connected Unix socket: here, unless there are descriptors in it.
void close_socket(Fd socket) noexcept;

// A connected Unix socket that others may send descriptors to: closed by close_socket().
class PeerSocket {
 public:
  PeerSocket() = default;
  explicit PeerSocket(Fd socket) noexcept : socket_(std::move(socket)) {}
  PeerSocket(PeerSocket&&) noexcept = default;
  PeerSocket& operator=(PeerSocket&& other) noexcept {
    std::swap(socket_, other.socket_);
    return *this;
  }
  ~PeerSocket() { close_socket(std::move(socket_)); }

  operator const Fd&() const noexcept { return socket_; }
  int get() const noexcept { return socket_.get(); }
  explicit operator bool() const noexcept { return bool(socket_); }
  Fd take() noexcept { return std::move(socket_); }

 private:
  Fd socket_;
};

}  // namespace corelane::os
