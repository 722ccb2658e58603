// Handles descriptors that other processes send over a Unix socket (SCM_RIGHTS). Closing the last descriptor of a file
// takes as long as its maker wants. A TCP socket with SO_LINGER waits for its peer; a FUSE file waits for a process. A
// descriptor is closed by a reader without room for it, and by a thread that closes a socket in which it lies unread.
// So a thread that others wait for must not close a passed descriptor that may be harmful.
//
// Threads: any. Functions that say so hand the closing to a thread `corelane-closer`. A process has at most one, and
// only while there is something to close.
#pragma once

#include <sys/socket.h>

#include <cstddef>
#include <utility>

#include "orb/os/fd.h"

namespace corelane::os {

// Makes the kernel refuse (EPERM, for the sender) packets with descriptors on this Unix socket. For a listening socket
// this includes the sockets that it accepts. Returns false if the kernel is older than 6.16.
bool refuse_descriptors(int socket) noexcept;
// Returns whether a peer may send descriptors to this socket, or may have sent some. Ask before the first
// refuse_descriptors().
bool takes_descriptors(int socket) noexcept;
// Returns whether the kernel can refuse descriptors; asks once.
bool kernel_refuses_descriptors() noexcept;

// For readers on kernels that do not refuse descriptors. passed_room is the size of the buffer for all descriptors of a
// packet. close_passed() passes the descriptors of a message to the thread that closes them.
inline constexpr std::size_t passed_room = CMSG_SPACE(sizeof(int) * 253);  // SCM_MAX_FD
void close_passed(msghdr& message) noexcept;

// Looks at the next packet of a Unix socket without SO_PASSCRED, and does not remove it. plain: the packet has no
// descriptors, or the other end has hung up.
enum class NextPacket : unsigned char { none, plain, with_descriptors };
NextPacket look_at_packet(int socket) noexcept;

// Closes on the closer's thread, or on this one if the closer's queue is full or it cannot start.
void close_elsewhere(Fd descriptor) noexcept;
// Closes a connected Unix socket: on this thread, unless there are descriptors in it.
void close_socket(Fd socket) noexcept;

// PeerSocket owns a connected Unix socket to which others may send descriptors. close_socket() closes it.
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
