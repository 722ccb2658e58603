// A blocking TCP socket on the loopback and 64 bytes, for the rows without an object request broker.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace latency {

using Message = std::array<char, 64>;  // the size of a small GIOP request, without its fixed header

[[noreturn]] inline void die(const char* what) {
  std::fprintf(stderr, "%s: %s\n", what, std::strerror(errno));
  std::exit(1);
}

inline int new_socket() {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) die("socket");
  return fd;
}

inline void set_no_delay(int fd) {
  const int on = 1;
  if (::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) < 0) die("TCP_NODELAY");
}

inline sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

// Listens on a free port and returns it.
inline std::uint16_t listen_on(int fd) {
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (::bind(fd, generic, size) < 0 || ::listen(fd, 8) < 0 || ::getsockname(fd, generic, &size) < 0) die("listen");
  return ntohs(address.sin_port);
}

inline int accept_one(int listener) {
  const int fd = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
  if (fd < 0) die("accept");
  set_no_delay(fd);
  return fd;
}

inline bool send_all(int fd, const Message& message) {
  return ::send(fd, message.data(), message.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(message.size());
}

inline bool receive_all(int fd, Message& message, int flags = MSG_WAITALL) {
  return ::recv(fd, message.data(), message.size(), flags) == static_cast<ssize_t>(message.size());
}

}  // namespace latency
