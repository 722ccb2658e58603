// LingeringSocket is a descriptor that blocks the thread that closes it.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <catch2/catch.hpp>
#include <string>

#include "orb/channel/ends/hello.h"
#include "orb/os/fd.h"

namespace corelane::testing {

// A TCP connection whose far end does not read. A close of the last descriptor of its near end blocks until the far end
// closes.
class LingeringSocket {
 public:
  os::Fd near, far;

  LingeringSocket() {
    const os::Fd door(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    near.reset(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    REQUIRE(bind(door.get(), any, size) == 0);
    REQUIRE(listen(door.get(), 1) == 0);
    REQUIRE(getsockname(door.get(), any, &size) == 0);
    REQUIRE(connect(near.get(), any, size) == 0);
    far.reset(accept4(door.get(), nullptr, nullptr, SOCK_CLOEXEC));
    const std::string much(1 << 20, 'x');
    while (send(near.get(), much.data(), much.size(), MSG_DONTWAIT) > 0) continue;
    const linger hours{.l_onoff = 1, .l_linger = 30'000};
    REQUIRE(setsockopt(near.get(), SOL_SOCKET, SO_LINGER, &hours, sizeof hours) == 0);
  }
  // Sends the near end with `bytes` bytes, and keeps no descriptor of it here.
  void send_to(const os::Fd& socket, std::size_t bytes = 1) {
    const std::string text(bytes, 'x');
    REQUIRE(channel::send_packet(socket, text.data(), text.size(), {near.get()}));
    near.reset();
  }
};

}  // namespace corelane::testing
