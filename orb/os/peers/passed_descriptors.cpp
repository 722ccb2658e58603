#include "orb/os/peers/passed_descriptors.h"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>

#include "orb/os/threads/closer.h"

#ifndef SO_PASSRIGHTS
#define SO_PASSRIGHTS 83  // Linux 6.16
#endif

namespace corelane::os {
namespace {

constexpr int most_packets = 64;  // read from a socket by the thread that closes it

bool set_option(int socket, int name, int value) noexcept {
  return setsockopt(socket, SOL_SOCKET, name, &value, sizeof value) == 0;
}

bool is_unix_socket(int fd) noexcept {
  int domain = -1;
  socklen_t size = sizeof domain;
  return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 && domain == AF_UNIX;
}

// Retries after ECONNRESET: the peer closed its end with unread data of ours, and its own data comes after that error.
ssize_t receive(int socket, msghdr& message, int flags) noexcept {
  const ssize_t got = recvmsg(socket, &message, flags | MSG_DONTWAIT);
  return got < 0 && errno == ECONNRESET ? recvmsg(socket, &message, flags | MSG_DONTWAIT) : got;
}

// Closes without lingering: removes SO_LINGER, which the socket's maker may have set.
void close_at_last(int fd) noexcept {
  const linger none{};
  setsockopt(fd, SOL_SOCKET, SO_LINGER, &none, sizeof none);  // has no effect on other files
  close(fd);
}

template <typename Use>
void for_each_passed(msghdr& message, Use&& use) noexcept {
  for (cmsghdr* found = CMSG_FIRSTHDR(&message); found != nullptr; found = CMSG_NXTHDR(&message, found)) {
    if (found->cmsg_level != SOL_SOCKET || found->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (found->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd;
      std::memcpy(&fd, CMSG_DATA(found) + i * sizeof fd, sizeof fd);
      use(fd);
    }
  }
}

// Reads the next packet and closes its descriptors. Returns false if there was none. SO_PASSCRED is set, so an empty
// packet has credentials, and the end of the stream has none.
bool take_out(int socket) noexcept {
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(ucred)) + passed_room];
  char any;
  iovec part{&any, sizeof any};
  msghdr message{};
  message.msg_iov = &part, message.msg_iovlen = 1;
  message.msg_control = control, message.msg_controllen = sizeof control;
  if (receive(socket, message, MSG_CMSG_CLOEXEC) < 0) return false;
  for_each_passed(message, close_at_last);
  return message.msg_controllen != 0;
}

// Bound: the socket is shut down, so no more packets arrive.
void close_with_packets(const Closer::Task& task) noexcept {
  while (take_out(task.fd)) continue;
  close_at_last(task.fd);
}

void close_alone(const Closer::Task& task) noexcept { close_at_last(task.fd); }

void hand_over(Fd descriptor, void (*run)(const Closer::Task&) noexcept) noexcept {
  const int fd = descriptor.release();
  if (fd >= 0 && !Closer::of_descriptors().take({.run = run, .fd = fd})) close_at_last(fd);
}

// Looks at the next packet of a socket with SO_PASSCRED. The buffer has room only for the credentials, which come
// first.
NextPacket look_at_last_packet(int socket) noexcept {
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(ucred))];
  char any;
  iovec part{&any, sizeof any};
  msghdr message{};
  message.msg_iov = &part, message.msg_iovlen = 1;
  message.msg_control = control, message.msg_controllen = sizeof control;
  if (receive(socket, message, MSG_PEEK) < 0 || message.msg_controllen == 0) return NextPacket::none;
  return (message.msg_flags & MSG_CTRUNC) != 0 ? NextPacket::with_descriptors : NextPacket::plain;
}

// Reads packets without descriptors, and returns whether descriptors are left in the socket. Needs SO_PASSCRED.
bool holds_descriptors(int socket) noexcept {
  for (int i = 0; i < most_packets; ++i) {
    const NextPacket next = look_at_last_packet(socket);
    if (next != NextPacket::plain) return next == NextPacket::with_descriptors;
    take_out(socket);
  }
  return true;  // or so many packets that reading them takes too long here
}

}  // namespace

bool refuse_descriptors(int socket) noexcept { return set_option(socket, SO_PASSRIGHTS, 0); }

bool takes_descriptors(int socket) noexcept {
  int takes = 1;
  socklen_t size = sizeof takes;
  return ::getsockopt(socket, SOL_SOCKET, SO_PASSRIGHTS, &takes, &size) != 0 || takes != 0;
}

bool kernel_refuses_descriptors() noexcept {
  static const bool does = refuse_descriptors(Fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)).get());
  return does;
}

void close_passed(msghdr& message) noexcept {
  for_each_passed(message, [](int fd) { close_elsewhere(Fd(fd)); });
}

NextPacket look_at_packet(int socket) noexcept {
  char any;
  iovec part{&any, sizeof any};
  msghdr message{};
  message.msg_iov = &part, message.msg_iovlen = 1;
  return receive(socket, message, MSG_PEEK) < 0  ? NextPacket::none
         : (message.msg_flags & MSG_CTRUNC) != 0 ? NextPacket::with_descriptors
                                                 : NextPacket::plain;
}

void close_elsewhere(Fd descriptor) noexcept { hand_over(std::move(descriptor), close_alone); }

void close_socket(Fd socket) noexcept {
  if (!socket) return;
  if (!is_unix_socket(socket.get())) return close_elsewhere(std::move(socket));
  const bool tells = set_option(socket.get(), SO_PASSCRED, 1);
  shutdown(socket.get(), SHUT_RDWR);  // no more packets arrive
  if (tells && holds_descriptors(socket.get())) hand_over(std::move(socket), close_with_packets);
}

}  // namespace corelane::os
