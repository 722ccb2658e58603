// Tests timeout.propagate between clients and servers, and its context on the wire.
#include <array>
#include <catch2/catch.hpp>
#include <cstring>
#include <optional>
#include <thread>

#include "orb/base/minor.h"
#include "orb/core/call_deadline.h"
#include "tests/support/peers/acceptor.h"
#include "tests/support/peers/bare_client.h"
#include "tests/support/peers/bare_server.h"

namespace deadline_test {

using namespace corelane;
using namespace corelane::testing;

namespace {

constexpr auto context_id = giop::context::deadline;

std::array<std::byte, 16> encoded(std::uint64_t time_left, std::uint8_t version = 1) {
  std::array<std::byte, 16> bytes{};
  bytes[0] = static_cast<std::byte>(native_order);
  bytes[1] = static_cast<std::byte>(version);
  std::memcpy(&bytes[8], &time_left, sizeof time_left);
  return bytes;
}

// Answers one ping, and returns the time left that its request names.
std::optional<Duration> answer_ping(Wire& wire) {
  const auto message = wire.next();
  REQUIRE(message);
  const auto request = giop::parse_request(*message, {});
  REQUIRE(request);
  std::optional<Duration> left;
  if (const auto context = request->header.contexts.find(context_id)) {
    std::uint64_t count = 0;
    cdr::Reader reader = cdr::Reader::of_encapsulation(*context);
    std::uint8_t version = 0;
    REQUIRE(reader.read(version));
    REQUIRE(reader.read(count));
    left = Duration{static_cast<std::int64_t>(count)};
  }
  cdr::Writer writer;
  begin_reply_to(*message, writer);
  REQUIRE(wire.send(writer));
  return left;
}

std::vector<std::optional<Duration>> times_sent_with(std::vector<std::string> options) {
  Acceptor acceptor;
  TestOrb client(std::move(options));
  const auto probe = unchecked_probe(client, acceptor.corbaloc());
  std::vector<std::optional<Duration>> times;
  std::jthread server([&] {
    Wire wire = acceptor.next();
    for (int i = 0; i < 2; ++i) times.push_back(answer_ping(wire));
    (void)wire.next();
  });
  for (int i = 0; i < 2; ++i) probe->ping();
  client->destroy();
  server.join();
  return times;
}

// Sends ping with this context, and returns the error of the reply; nothing: it has none.
std::optional<Error> ping(BareClient& client, Bytes content) {
  Wire wire(client.wires, client.endpoint);
  const giop::ServiceContext contexts[] = {{context_id, content}};
  begin_request(client.writer, 7, client.key, "ping", giop::giop_1_2, native_order, contexts);
  REQUIRE(wire.send(client.writer));
  const auto message = wire.next();
  REQUIRE(message);
  auto reply = giop::parse_reply(*message, {});
  REQUIRE(reply);
  if (reply->header.status == giop::ReplyStatus::no_exception) return std::nullopt;
  return *giop::decode_system_exception(reply->body);
}

// Returns the limit of the calls that a servant makes while it serves a client with these options.
Time limit_inside_servant(std::vector<std::string> options) {
  ProbeServer server;
  TestOrb client(std::move(options));
  Time limit{};
  server.servant->failure([&] {
    limit = core::CallDeadline::current();
    throw Probing::Refused();
  });
  CHECK_THROWS_AS(probe_of(client, server.ior())->fail(as_told), Probing::Refused);
  return limit;
}

}  // namespace

TEST_CASE("each request says how long its client waits if timeout.propagate is on") {
  const auto times = times_sent_with({"-ORBTimeoutPropagate", "on", "-ORBTimeoutRequest", "3600s"});
  REQUIRE(times.size() == 2);
  for (const auto& left : times) {
    REQUIRE(left);
    CHECK(*left > Duration::zero());
    CHECK(*left <= std::chrono::hours{1});
  }
}

TEST_CASE("requests say nothing of it by default, nor if their clients wait for ever") {
  for (const auto& left : times_sent_with({})) CHECK_FALSE(left);
  for (const auto& left : times_sent_with({"-ORBTimeoutPropagate", "on", "-ORBTimeoutRequest", "0s"}))
    CHECK_FALSE(left);
}

TEST_CASE("a server does not run a request whose client has given up") {
  BareClient client;
  const auto error = ping(client, encoded(0));
  REQUIRE(error);
  CHECK(error->kind == ErrorKind::timeout);
  CHECK(error->minor == minor::deadline_passed);
  CHECK(error->completed == Completion::no);
  CHECK(client.server.servant->pings == 0);
}

TEST_CASE("a server runs a request whose client still waits, however long") {
  BareClient client;
  constexpr std::uint64_t an_hour = 3'600'000'000'000;
  for (const std::uint64_t left : {an_hour, ~std::uint64_t{0} / 2, ~std::uint64_t{0}})
    CHECK_FALSE(ping(client, encoded(left)));
  CHECK_FALSE(ping(client, encoded(an_hour, 9)));  // a later version
  CHECK(client.server.servant->pings == 4);
}

TEST_CASE("a malformed deadline is refused") {
  BareClient client;
  const auto bytes = encoded(1);
  for (const auto& error : {ping(client, Bytes(bytes).first(15)), ping(client, {}), ping(client, encoded(1, 0))}) {
    REQUIRE(error);
    CHECK(error->kind == ErrorKind::marshal);
  }
  CHECK(client.server.servant->pings == 0);
}

TEST_CASE("the calls of a servant end with the wait of its client") {
  CHECK(limit_inside_servant({"-ORBTimeoutPropagate", "on"}) < never);
  CHECK(limit_inside_servant({}) == never);
}

}  // namespace deadline_test
