// The kinds of streams that the tests of this folder use; see Kind in tests/support/stream_harness.h.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "orb/os/fd.h"
#include "orb/transport/channel/channel.h"
#include "orb/transport/tcp/tcp.h"
#include "orb/transport/unix/unix.h"
#include "orb/transport/vsock/vsock.h"
#include "tests/support/stream_harness.h"
#include "tests/support/system/temp_directory.h"
#include "tests/support/system/vsock.h"

namespace corelane::testing {

using transport::ConnectionLimits;
using transport::Endpoint;
using transport::Reactor;
using transport::TcpTransport;
using transport::Transport;

struct TcpV4 {
  static std::optional<std::string> missing() { return std::nullopt; }
  static Endpoint anywhere() { return {"127.0.0.1", 0}; }
  static std::unique_ptr<Transport> make(Reactor& reactor, const ConnectionLimits& limits) {
    return std::make_unique<TcpTransport>(reactor, limits);
  }
};

struct TcpV6 : TcpV4 {
  static std::optional<std::string> missing() {
    const os::Fd probe(socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in6 address{};
    address.sin6_family = AF_INET6;
    address.sin6_addr = in6addr_loopback;
    if (probe && bind(probe.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) return std::nullopt;
    return "this machine has no ::1";
  }
  static Endpoint anywhere() { return {"::1", 0}; }
};

struct UnixSocket {
  static std::optional<std::string> missing() { return std::nullopt; }
  static Endpoint anywhere() { return transport::unix_endpoint(""); }
  static std::unique_ptr<Transport> make(Reactor& reactor, const ConnectionLimits& limits) {
    static const TempDirectory directory;
    return std::make_unique<transport::UnixTransport>(reactor, transport::UnixOptions{.directory = directory.path()},
                                                      limits);
  }
};

struct SharedMemory {
  static std::optional<std::string> missing() { return std::nullopt; }
  static Endpoint anywhere() { return transport::channel_endpoint(""); }
  static std::unique_ptr<Transport> make(Reactor& reactor, const ConnectionLimits& limits) {
    return made(reactor, limits, true);
  }
  static constexpr std::size_t one_long_message = 1344 * 1024;
  static std::unique_ptr<Transport> made(Reactor& reactor, const ConnectionLimits& limits, bool by_descriptor,
                                         std::size_t pool = one_long_message) {
    static const TempDirectory directory;
    return std::make_unique<transport::ChannelTransport>(
        reactor,
        transport::ChannelOptions{.directory = directory.path(), .pool = pool, .wake_by_descriptor = by_descriptor},
        limits);
  }
};

struct Vsock {
  static std::optional<std::string> missing() { return why_no_vsock(); }
  static Endpoint anywhere() { return transport::vsock_endpoint({.cid = transport::VsockAddress::own_machine}); }
  static std::unique_ptr<Transport> make(Reactor& reactor, const ConnectionLimits& limits) {
    return std::make_unique<transport::VsockTransport>(reactor, limits);
  }
};

// Channels with the wake-ups that ends of two users have.
struct SharedByUsers : SharedMemory {
  static std::unique_ptr<Transport> make(Reactor& reactor, const ConnectionLimits& limits) {
    return made(reactor, limits, false);
  }
};

// A kind whose reactor has a second thread for ordinary work, beside the one that reads.
template <typename Kind>
struct Apart : Kind {
  static std::unique_ptr<Transport> make(Reactor& reactor, const ConnectionLimits& limits) {
    REQUIRE(reactor.split_off_ordinary_work());
    return Kind::make(reactor, limits);
  }
};

// Blocks the reactor in its first bytes until the test lets it continue.
struct BusyReader final : transport::Watcher {
  void on_bytes(Bytes bytes, Time) noexcept override {
    if (text.empty()) {
      began.put(true);
      go_on.take();
    }
    text += text_of(bytes);
    size_.store(text.size(), std::memory_order_relaxed);  // relaxed: only a number
    came.put(true);
  }
  void on_closed(Error) noexcept override { closed.put(true); }
  std::size_t size() const noexcept { return size_.load(std::memory_order_relaxed); }  // relaxed: as above

  Mailbox<bool> began, go_on, came, closed;
  std::string text;  // belongs to the reactor's thread until `closed`

 private:
  std::atomic<std::size_t> size_{0};
};

}  // namespace corelane::testing
