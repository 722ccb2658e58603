// Wire is a client or server without an ORB: one bare connection that sends and receives whole GIOP messages.
#pragma once

#include <poll.h>
#include <sys/socket.h>

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "orb/cdr/writer.h"
#include "orb/giop/assembler.h"
#include "orb/giop/headers.h"
#include "orb/os/clock.h"
#include "orb/transport/tcp/tcp.h"
#include "tests/support/long_enough.h"

namespace corelane::testing {

// A transport outside any ORB.
struct Wires {
  std::unique_ptr<transport::Reactor> reactor = std::move(*transport::Reactor::start());
  transport::TcpTransport tcp{*reactor};
};

// One bare connection, and whole messages from it.
class Wire {
 public:
  Wire(Wires& wires, const transport::Endpoint& to)
      : stream_(std::move(*wires.tcp.connect(to, os::now() + long_enough))) {}
  explicit Wire(std::shared_ptr<transport::Connection> stream) : stream_(std::move(stream)) {}

  bool send(Bytes bytes) { return stream_->send(bytes).has_value(); }
  bool send(cdr::Writer& writer) { return giop::finish(writer) && send(writer.bytes()); }
  // Returns nothing if the peer closed the connection, or sent nothing in time.
  std::optional<giop::Message> next(Duration patience = long_enough) {
    const Time deadline = os::now() + patience;
    for (;;) {
      auto message = assembler_.next(input_, os::now());
      if (!message) return std::nullopt;
      if (*message) return **message;
      const auto got = stream_->receive(buffer_, deadline, {});
      if (!got || *got == 0) return std::nullopt;
      input_ = Bytes(buffer_).first(*got);
    }
  }
  bool closed_by_peer() {
    while (next()) {
    }
    const auto got = stream_->receive(buffer_, os::now() + long_enough, {});
    return (got && *got == 0) || (!got && got.error().kind != ErrorKind::timeout);
  }
  // Ends the sending direction. A peer that has read everything then ends the connection, also in the middle of a
  // message.
  void finish() { ::shutdown(stream_->descriptor(), SHUT_WR); }
  bool is_open() { return stream_->is_open(); }
  // Waits until bytes have come. They stay unread.
  void await_bytes() {
    pollfd bytes{.fd = stream_->descriptor(), .events = POLLIN, .revents = 0};
    while (::poll(&bytes, 1, -1) < 0) continue;  // bound: signals
  }
  void close() { stream_->close(); }

 private:
  std::shared_ptr<transport::Connection> stream_;
  giop::Assembler assembler_;
  std::vector<std::byte> buffer_ = std::vector<std::byte>(65536);
  Bytes input_;
};

inline void begin_request(cdr::Writer& writer, std::uint32_t id, Bytes key, std::string_view operation,
                          giop::Version version = giop::giop_1_2, ByteOrder order = native_order,
                          std::span<const giop::ServiceContext> contexts = {}) {
  giop::RequestHeader header;
  header.request_id = id;
  header.target.object_key = key;
  header.operation = operation;
  giop::begin_request(writer, header, contexts, version, order);
}

}  // namespace corelane::testing
