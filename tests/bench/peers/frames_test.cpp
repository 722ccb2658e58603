#include "bench/peers/bare/frames.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <stdexcept>

namespace {

using namespace peers::bare;
using Bytes = std::vector<std::uint8_t>;

Bytes bytes_of(std::span<const std::uint8_t> bytes) { return {bytes.begin(), bytes.end()}; }

// What Corelane's client sends for the second ping(1) of a connection, except the letters of the key, and what its
// server answers.
const Bytes recorded_request = [] {
  Bytes bytes{'G', 'I', 'O', 'P', 1, 2, 1, 0, 0x44, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 23, 0, 0, 0};
  for (const char letter : default_key()) bytes.push_back(static_cast<std::uint8_t>(letter));
  const Bytes rest{0, 5, 0, 0, 0, 'p', 'i', 'n', 'g', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0};
  bytes.insert(bytes.end(), rest.begin(), rest.end());
  return bytes;
}();
const Bytes recorded_reply{'G', 'I', 'O', 'P', 1, 2, 1, 1, 0x14, 0, 0, 0, 2, 0, 0, 0,
                           0,   0,   0,   0,   0, 0, 0, 0, 2,    0, 0, 0, 0, 0, 0, 0};

}  // namespace

TEST_CASE("a bare ping is byte for byte what Corelane sends") {
  Request ping("ping", default_key(), false);
  (void)ping.with(std::int64_t{0});
  CHECK(bytes_of(ping.with(std::int64_t{1})) == recorded_request);
}

TEST_CASE("a bare server answers a ping byte for byte as Corelane does") {
  EchoService service;
  const auto answer = service.serve(received(recorded_request));
  REQUIRE(answer);
  CHECK(bytes_of({answer->head.bytes, answer->head.size}) == recorded_reply);
  CHECK(answer->octets.empty());
  CHECK(number_at<std::int64_t>(result_of(recorded_reply), 0) == 2);
}

TEST_CASE("octets travel behind the head of a request and of a reply") {
  Request echo("echo", default_key(), false);
  Bytes octets(100, 7);
  Bytes message = bytes_of(echo.before(octets.size()));
  message.insert(message.end(), octets.begin(), octets.end());
  CHECK(size_of(message) == message.size());
  EchoService service;
  const auto answer = service.serve(received(message));
  REQUIRE(answer);
  CHECK(bytes_of(answer->octets) == octets);
  Bytes reply = bytes_of({answer->head.bytes, answer->head.size});
  reply.insert(reply.end(), answer->octets.begin(), answer->octets.end());
  CHECK(size_of(reply) == reply.size());
  CHECK(bytes_of(octets_in(result_of(reply))) == octets);
}

TEST_CASE("a push gets no answer and is counted") {
  Request push("push", default_key(), true);
  Bytes message = bytes_of(push.before(1));
  message.push_back(1);
  CHECK(message[16] == 0);
  EchoService service;
  Request pushed("pushed", default_key(), false);
  const auto count = [&] {
    const auto answer = service.serve(received(pushed.alone()));
    return number_at<std::int64_t>({answer->head.bytes, answer->head.size}, result_offset);
  };
  const auto before = count();
  CHECK_FALSE(service.serve(received(message)));
  CHECK(count() == before + 1);
}

TEST_CASE("the size of a message is unknown until its header is complete") {
  const std::span<const std::uint8_t> all(recorded_request);
  CHECK_FALSE(size_of(all.first(11)));
  CHECK(size_of(all.first(12)) == recorded_request.size());
}

TEST_CASE("a request that ends too early or asks for something else is refused") {
  Bytes cut(recorded_request.begin(), recorded_request.begin() + 40);
  CHECK_THROWS_WITH(received(cut), "a request ends too early");
  Bytes other = recorded_request;
  other[56] = 'r';
  CHECK_THROWS_WITH(received(other), "a request for an operation that is not known");
}

TEST_CASE("a reply with an exception is a failure of the call") {
  Bytes reply = recorded_reply;
  reply[16] = 2;
  CHECK_THROWS_WITH(result_of(reply), "the server raised an exception (reply status 2)");
}

namespace {

// Type "X" with one profile: IIOP 1.2, host "h", port 258, key "k".
const std::string little_reference =
    "IOR:010000000200000058000000010000000000000011000000010102000200000068000201010000006b";
const std::string big_reference =
    "IOR:000000000000000258000000000000010000000000000011000102000000000268000102000000016b";

}  // namespace

TEST_CASE("host, port and key are read from a reference of either byte order") {
  for (const std::string& reference : {little_reference, big_reference}) {
    const Target target = target_of(reference);
    CHECK(target.host == "h");
    CHECK(target.port == 258);
    CHECK(target.key == "k");
  }
}

TEST_CASE("a reference that is cut off anywhere is refused") {
  for (std::size_t size = 0; size + 2 <= little_reference.size(); size += 2)
    CHECK_THROWS_AS(target_of(little_reference.substr(0, size)), std::invalid_argument);
}
