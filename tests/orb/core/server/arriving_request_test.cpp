// Tests requests that a server reads while their client still copies them into the channel: from clients that are slow,
// stop, die, or send something else.
#include <catch2/catch.hpp>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "orb/base/minor.h"
#include "orb/giop/headers.h"
#include "orb/giop/message.h"
#include "orb/rt/rt.h"
#include "orb/transport/detail/channel_link.h"
#include "tests/support/channel_pair.h"
#include "tests/support/peers/bare_wire.h"
#include "tests/support/probe_servant.h"
#include "tests/support/quiet.h"
#include "tests/support/system/temp_directory.h"

namespace arriving_request_test {

using namespace corelane;
using namespace corelane::testing;

namespace {

// A server, and a client that writes its requests into a channel by hand. The server's thread spins, because a client
// begins no such message while its reader sleeps.
struct ByHand {
  explicit ByHand(std::vector<std::string> more = {}) : server(options(std::move(more))) {}

  std::vector<std::string> options(std::vector<std::string> more) const {
    more.insert(more.end(), {"-ORBEndpointListen", "channel:" + path(), "-ORBBestEffortWait", "spin"});
    return more;
  }
  std::string path() const { return directory / "c"; }

  // Returns a request for `operation` with such a text, without its NUL.
  std::vector<std::byte> request(const std::string& text, const char* operation = "echo") {
    cdr::Writer writer;
    begin_request(writer, ++last_id, key, operation);
    encode(writer, text);
    REQUIRE(giop::finish(writer));
    return writer.to_vector();
  }
  // Lets the peer see the beginning of the message. Makes a call as long as the peer's thread does not spin: it spins
  // for a moment after a request.
  void begin(Bytes message) {
    while (!end.begin_growing(message.first(200), message.subspan(200))) call();
  }
  void finish() {
    end.write_rest();
    end.end_growing();
  }
  // Returns so many bytes of replies, or fewer and the end of the channel.
  std::string replies(std::size_t size) {
    std::string all;
    while (all.size() < size) {
      const std::string next = read(end);
      all += next;
      if (next.starts_with('<')) break;
    }
    return all;
  }
  // Returns whether the server sends MessageError and then ends the connection.
  bool is_refused() {
    const std::string message = read(end);
    const auto header = giop::parse_header(as_bytes(message));
    return header && header->type == giop::MessageType::message_error &&
           read(end) == ended(channel::Fault::peer_closed);
  }
  // Makes a whole call, after which the connection is read by a thread that runs requests.
  void call() {
    const std::vector<std::byte> small = request("small");
    REQUIRE(end.write(small, soon()));
    REQUIRE(replies(1).find("small") != std::string::npos);
  }

  const TempDirectory directory{};
  ProbeServer server;
  std::vector<std::byte> key = server.key();
  channel::Channel end = expect(channel::Channel::connect(path(), transport::ChannelLink::options({}), soon()));
  std::uint32_t last_id = 0;
};

// Letters in a period of 23, which shows where a part of them comes from.
const std::string text = [] {
  std::string made(1'000'000, ' ');
  for (std::size_t i = 0; i < made.size(); ++i) made[i] = static_cast<char>('a' + i % 23);
  return made;
}();

// Returns whether another client is served.
bool serves(ByHand& test) {
  TestOrb client;
  return probe_of(client, test.server.ior())->echo("other") == "other";
}

}  // namespace

TEST_CASE("a request that comes slowly is served when all of it is there") {
  ByHand test;
  test.call();
  for (int i = 0; i < 3; ++i) {
    const auto request = test.request(text);
    test.begin(request);
    std::this_thread::sleep_for(std::chrono::milliseconds{20});  // sleep: so that the server waits longer than it spins
    CHECK(serves(test));
    test.finish();
    CHECK(test.replies(text.size()).find(text) != std::string::npos);
  }
}

TEST_CASE("a client that stops in the middle of a request loses its connection, and others are served meanwhile") {
  const Quiet quiet;
  ByHand test({"-ORBTimeoutHeader", "300ms"});
  test.call();
  const auto request = test.request(text);
  test.begin(request);
  CHECK(serves(test));
  CHECK(test.replies(text.size()) == ended(channel::Fault::peer_closed));
  CHECK(serves(test));
}

TEST_CASE("a request that might be one for the ORB itself is served when all of it is there") {
  ByHand test;
  test.call();
  const auto request = test.request(text, "_set_name");
  test.begin(request);
  std::this_thread::sleep_for(std::chrono::milliseconds{20});  // sleep: so that the server waits longer than it spins
  CHECK(serves(test));
  test.finish();
  CHECK_FALSE(test.replies(1).starts_with('<'));
  TestOrb client;
  CHECK(probe_of(client, test.server.ior())->name() == text);
}

TEST_CASE("a client that stops in such a request loses its connection, too, and is counted") {
  const Quiet quiet;
  ByHand test({"-ORBTimeoutHeader", "300ms"});
  test.call();
  const auto request = test.request(text, "_set_name");
  test.begin(request);
  CHECK(serves(test));
  CHECK(test.replies(1) == ended(channel::Fault::peer_closed));
  CHECK(rt::report(*test.server.orb.orb).cut_off_clients == 1);
}

TEST_CASE("a client that ends in the middle of a request is not served, and others are") {
  ByHand test;
  test.call();
  const auto request = test.request(text);
  test.begin(request);
  test.end.close();
  CHECK(serves(test));
}

TEST_CASE("bytes that are no request are answered with MessageError when all of them are there") {
  const Quiet quiet;
  ByHand test;
  test.call();
  auto request = test.request(text);
  SECTION("another message") { request[7] = static_cast<std::byte>(giop::MessageType::reply); }
  SECTION("no message") { request[0] = std::byte{0}; }
  test.begin(request);
  std::this_thread::sleep_for(std::chrono::milliseconds{20});  // sleep: so that the server waits longer than it spins
  CHECK(serves(test));
  test.finish();
  CHECK(test.is_refused());
  CHECK(serves(test));
}

// With such a patience, no other thread reads on and closes the connection while the request runs.
TEST_CASE("a request is served although bytes that are no message follow it") {
  const Quiet quiet;
  ByHand test({"-ORBBestEffortPatience", "60s"});
  test.call();
  auto request = test.request(text, "_set_name");
  request.insert(request.end(), 12, std::byte{0});
  test.begin(request);
  test.finish();
  const std::string all = test.replies(std::string::npos);  // until the end
  const auto reply = giop::parse_header(as_bytes(all));
  REQUIRE(reply);
  CHECK(reply->type == giop::MessageType::reply);
  const auto refusal = giop::parse_header(as_bytes(all).subspan(giop::header_size + reply->body_size));
  REQUIRE(refusal);
  CHECK(refusal->type == giop::MessageType::message_error);
  CHECK_THAT(all, Catch::EndsWith(ended(channel::Fault::peer_closed)));
  TestOrb client;
  CHECK(probe_of(client, test.server.ior())->name() == text);
}

TEST_CASE("a part of a request is served when the rest has come, and the connection goes on") {
  ByHand test;
  test.call();
  const auto request = test.request(text);
  test.begin(Bytes(request).first(request.size() - 1));
  std::this_thread::sleep_for(std::chrono::milliseconds{20});  // sleep: so that the server waits longer than it spins
  CHECK(serves(test));
  test.finish();
  REQUIRE(test.end.write(Bytes(request).last(1), soon()));
  CHECK(test.replies(text.size()).find(text) != std::string::npos);
  test.call();
}

TEST_CASE("a client that stops in the middle of bytes that are no request loses its connection, and is counted once") {
  const Quiet quiet;
  ByHand test({"-ORBTimeoutHeader", "300ms"});
  test.call();
  auto request = test.request(text);
  request[0] = std::byte{0};
  test.begin(request);
  CHECK(serves(test));
  CHECK(test.replies(1) == ended(channel::Fault::peer_closed));
  CHECK(rt::report(*test.server.orb.orb).cut_off_clients == 1);
}

// With best_effort.waiting = 0 each thread that waits counts as a shortage.
TEST_CASE("no thread waits for a client that stops in the middle of a request if timeout.header is 0") {
  ByHand test({"-ORBTimeoutHeader", "0s", "-ORBBestEffortWaiting", "0", "-ORBBestEffortPatience", "60s"});
  test.call();
  const auto request = test.request(text);
  test.begin(request);
  std::this_thread::sleep_for(std::chrono::milliseconds{20});  // sleep: a thread that read it would wait by now
  CHECK(serves(test));
  CHECK(rt::report(*test.server.orb.orb).best_effort_shortages == 0);
  test.finish();
  CHECK(test.replies(text.size()).find(text) != std::string::npos);
}

}  // namespace arriving_request_test
