// The row that all others are measured against: 64 bytes over a blocking TCP connection and back, no delay, no
// protocol.
//   corelane-bench-bare server
//   corelane-bench-bare PORT WARM-UP CALLS INTERVAL
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "bench/latency/load.h"

namespace {

using Message = std::array<char, 64>;  // about what a GIOP request with one 8-byte argument has beyond its fixed header

[[noreturn]] void die(const char* what) {
  std::fprintf(stderr, "%s: %s\n", what, std::strerror(errno));
  std::exit(1);
}

int new_socket() {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) die("socket");
  return fd;
}

void set_no_delay(int fd) {
  const int on = 1;
  if (::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) < 0) die("TCP_NODELAY");
}

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

bool send_all(int fd, const Message& message) {
  return ::send(fd, message.data(), message.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(message.size());
}

bool receive_all(int fd, Message& message) {
  return ::recv(fd, message.data(), message.size(), MSG_WAITALL) == static_cast<ssize_t>(message.size());
}

std::uint16_t listen_on(int fd) {
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (::bind(fd, generic, size) < 0 || ::listen(fd, 8) < 0 || ::getsockname(fd, generic, &size) < 0) die("listen");
  return ntohs(address.sin_port);
}

// One client at a time; ends when the driver ends it.
[[noreturn]] void serve() {
  const int listener = new_socket();
  latency::announce(std::to_string(listen_on(listener)));
  for (;;) {
    const int fd = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0) die("accept");
    set_no_delay(fd);
    for (Message message; receive_all(fd, message) && send_all(fd, message);) {
    }
    ::close(fd);
  }
}

int call(char** argv) {
  const int fd = new_socket();
  sockaddr_in address = loopback(static_cast<std::uint16_t>(std::stoul(argv[1])));
  if (::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) < 0) die("connect");
  set_no_delay(fd);
  Message message{};
  const auto samples = latency::measure(latency::load_of(argv), [&](std::int64_t value) {
    std::memcpy(message.data(), &value, sizeof value);
    if (!send_all(fd, message) || !receive_all(fd, message)) die("echo");
    std::int64_t answer = 0;
    std::memcpy(&answer, message.data(), sizeof answer);
    latency::check(value, answer);
  });
  return latency::report(samples) ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "server") serve();
  if (argc == 5) return call(argv);
  std::fprintf(stderr, "usage: %s server | PORT WARM-UP CALLS INTERVAL\n", argv[0]);
  return 2;
}
