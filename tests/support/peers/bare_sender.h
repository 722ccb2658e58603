// BareSender is a client without an ORB. It sends requests to a Probe and reads nothing. It has no buffer of its own,
// so send() returns when the server has taken the bytes or has ended the connection.
#pragma once

#include <sys/socket.h>

#include <catch2/catch.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "orb/base/time.h"
#include "orb/cdr/writer.h"
#include "orb/giop/message.h"
#include "orb/os/fd.h"
#include "orb/transport/detail/address.h"
#include "orb/transport/detail/socket.h"
#include "tests/support/peers/bare_wire.h"

namespace corelane::testing {

class BareSender {
 public:
  // Connects to a TCP port or a Unix socket.
  BareSender(const transport::Endpoint& endpoint, std::vector<std::byte> key)
      : stream_(connect(endpoint)), key_(std::move(key)) {}

  // Returns a whole request.
  std::vector<std::byte> request(std::string_view operation, const std::string& text) {
    begin_request(writer_, ++id_, key_, operation);
    writer_.write_string(text);
    REQUIRE(giop::finish(writer_));
    return writer_.to_vector();
  }
  // Returns false if the server has ended the connection.
  bool send(Bytes bytes) {
    while (!bytes.empty()) {  // bound: each turn sends something
      const ssize_t sent = ::send(stream_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes = bytes.subspan(static_cast<std::size_t>(sent));
    }
    return true;
  }
  void end() { ::shutdown(stream_.get(), SHUT_RDWR); }

 private:
  static os::Fd connect(const transport::Endpoint& endpoint) {
    const auto address = endpoint.kind == &transport::kinds::unix_socket
                             ? transport::unix_address(endpoint.path)
                             : transport::resolve(endpoint, transport::AddressUse::connect, never)->front();
    return std::move(*transport::connect_stream(address, never));
  }

  const os::Fd stream_;
  const std::vector<std::byte> key_;
  cdr::Writer writer_;
  std::uint32_t id_ = 0;
};

}  // namespace corelane::testing
