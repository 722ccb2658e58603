// Tests replies that a client decodes while their server still copies them into the channel: from servers that are
// slow, stop, die, or send something else.
#include <catch2/catch.hpp>
#include <cstdint>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "orb/base/minor.h"
#include "orb/cdr/codec.h"
#include "orb/core/client/async_calls.h"
#include "orb/core/client/client_call.h"
#include "orb/core/connections/client_connection.h"
#include "orb/giop/headers.h"
#include "orb/giop/message.h"
#include "orb/transport/channel/channel.h"
#include "orb/transport/detail/channel_link.h"
#include "tests/support/peers/forked_peer.h"
#include "tests/support/probe_servant.h"

namespace arriving_reply_test {

using namespace corelane;
using namespace corelane::testing;
using core::ClientCall;

namespace {

using Octets = std::vector<std::uint8_t>;

const Octets block = [] {
  Octets made(1'000'000);
  for (std::size_t i = 0; i < made.size(); ++i) made[i] = static_cast<std::uint8_t>(i % 251);
  return made;
}();

// A client, and a server that reads its requests and writes its replies by hand.
struct ByHand {
  explicit ByHand(std::size_t message_size = giop::Limits().message_size)
      : connection(core::ClientConnection::make(
            std::move(*transport.connect(transport::channel_endpoint(meeting.path()), soon())),
            {.message_size = message_size})),
        end(expect(accepted.get())) {}

  // Reads a request, and returns a reply with the block.
  std::vector<std::byte> reply(giop::Version version = giop::giop_1_2) {
    REQUIRE(end.wait(soon()));
    const auto front = end.peek();
    REQUIRE(front);
    const auto message = giop::parse_message(*front);
    REQUIRE(message);
    const auto request = giop::parse_request(*message, {});
    REQUIRE(request);
    cdr::Writer writer;
    giop::begin_reply(
        writer, {.request_id = request->header.request_id, .status = giop::ReplyStatus::no_exception, .contexts = {}},
        {}, version);
    encode(writer, block);
    REQUIRE(giop::finish(writer));
    end.pop();
    return writer.to_vector();
  }
  // Lets the client see the beginning of the message.
  void begin(Bytes message) { REQUIRE(end.begin_growing(message.first(100), message.subspan(100))); }
  void finish() {
    end.write_rest();
    end.end_growing();
  }
  // Makes a call and decodes its result.
  Octets get(Time latest = never) {
    auto call = ClientCall::acquire();
    call->begin(reference, "get", {.connection = connection, .latest = latest});
    call->invoke({});
    Octets result;
    if (!decode(call->results(), result)) call->raise_bad_results();
    return result;
  }
  std::future<Octets> get_in_thread(Time latest = never) {
    return std::async(std::launch::async, [this, latest] { return get(latest); });
  }

  // Makes an asynchronous call.
  std::future<Octets> get_later(core::AsyncCalls& calls, Time latest = never) {
    auto result = promised.emplace_back(std::make_shared<std::promise<Octets>>());
    auto call = ClientCall::acquire();
    call->begin(reference, "get", {.connection = connection, .waits = false, .latest = latest});
    core::AsyncCall posted{std::move(call), {}, [result](core::AsyncReply& reply) {
                             Octets octets;
                             reply.unmarshal(octets) ? result->set_value(octets)
                                                     : result->set_exception(reply.exception());
                           }};
    calls.start(posted);
    return result->get_future();
  }

  // Of get_later(). This thread frees them, with the exceptions in them: the thread sanitizer does not see how
  // exceptions count their references.
  std::vector<std::shared_ptr<std::promise<Octets>>> promised;
  ProbeServer somewhere;
  TestOrb client;
  std::shared_ptr<core::Reference> reference = probe_of(client, somewhere.ior())->_reference();
  Meeting meeting{transport::ChannelLink::options({})};
  std::unique_ptr<transport::Reactor> reactor = std::move(*transport::Reactor::start());
  transport::ChannelTransport transport{*reactor};
  std::future<ChannelResult> accepted =
      std::async(std::launch::async, [this] { return meeting.meet_child(ChildIs::connector); });
  std::shared_ptr<core::ClientConnection> connection;
  channel::Channel end;
};

// Returns the error that the call ended with.
template <typename Exception>
Error error_of(std::future<Octets>& result) {
  try {
    (void)result.get();
  } catch (const Exception& exception) {
    return exception.error();
  }
  FAIL("the call ended without that exception");
  return {};
}

bool has_ended(const std::future<Octets>& result) {
  return result.wait_for(std::chrono::seconds{0}) == std::future_status::ready;
}

}  // namespace

TEST_CASE("a reply that comes slowly is decoded when all of it is there") {
  ByHand test;
  const giop::Version version = GENERATE(giop::giop_1_2, giop::giop_1_0);
  for (int i = 0; i < 3; ++i) {
    auto result = test.get_in_thread();
    const auto reply = test.reply(version);
    test.begin(reply);
    std::this_thread::sleep_for(std::chrono::milliseconds{20});  // sleep: so that the client waits longer than it spins
    test.finish();
    CHECK((result.get() == block));
  }
}

TEST_CASE("a call has its reply when the beginning is there, and other calls get theirs meanwhile") {
  ByHand test;
  auto slow = test.get_in_thread();
  const auto first = test.reply();
  test.begin(first);
  auto quick = test.get_in_thread();
  const auto second = test.reply();
  REQUIRE(test.end.write(Bytes(second), soon()));
  CHECK((quick.get() == block));
  test.finish();
  CHECK((slow.get() == block));
}

TEST_CASE("a call whose server ends in the middle of the reply fails, and may have run") {
  ByHand test;
  auto result = test.get_in_thread();
  const auto reply = test.reply();
  test.begin(reply);
  test.end.close();
  const Error error = error_of<core::SystemException>(result);
  CHECK(error.kind == ErrorKind::comm_failure);
  CHECK(error.minor == minor::connection_lost);
  CHECK(error.completed == Completion::maybe);
}

TEST_CASE("a call whose server stops in the middle of the reply ends in time") {
  ByHand test;
  auto result = test.get_in_thread(os::now() + std::chrono::milliseconds{300});
  const auto reply = test.reply();
  test.begin(reply);
  const Error error = error_of<core::SystemException>(result);
  CHECK(error.kind == ErrorKind::timeout);
  CHECK(error.completed == Completion::maybe);
  test.finish();
  auto next = test.get_in_thread();
  const auto other = test.reply();
  REQUIRE(test.end.write(Bytes(other), soon()));
  CHECK((next.get() == block));
}

TEST_CASE("a message that is no whole reply is not read while it is written") {
  ByHand test;
  auto result = test.get_in_thread();
  auto reply = test.reply();
  SECTION("another message") { reply[7] = static_cast<std::byte>(giop::MessageType::request); }
  SECTION("no message") { reply[0] = std::byte{0}; }
  SECTION("two messages") { reply.insert(reply.end(), 12, std::byte{0}); }
  SECTION("a part of one") { reply.pop_back(); }
  test.begin(reply);
  const Error error = error_of<core::SystemException>(result);
  CHECK(error.kind == ErrorKind::comm_failure);
  CHECK(error.minor == minor::channel_spoiled);
}

TEST_CASE("a reply that is too large is refused when it begins, and the connection goes on") {
  ByHand test(500'000);
  auto result = test.get_in_thread();
  const auto reply = test.reply();
  test.begin(reply);
  const Error error = error_of<core::SystemException>(result);
  CHECK(error.kind == ErrorKind::imp_limit);
  CHECK(error.minor == minor::message_too_large);
  CHECK(error.completed == Completion::yes);
  test.finish();
  auto next = test.get_in_thread();
  const auto other = test.reply();
  REQUIRE(test.end.write(Bytes(other), soon()));
  CHECK(error_of<core::SystemException>(next).kind == ErrorKind::imp_limit);
}

// The first call has a deadline, so that the test fails and does not hang if other calls wait for it.
TEST_CASE("asynchronous calls get their replies while the server stops in the middle of a longer one") {
  ByHand test;
  core::AsyncCalls calls;
  auto slow = test.get_later(calls, soon());
  const auto first = test.reply();
  test.begin(first);
  SECTION("a reply comes") {
    auto quick = test.get_later(calls);
    const auto second = test.reply();
    REQUIRE(test.end.write(Bytes(second), soon()));
    CHECK((quick.get() == block));
  }
  SECTION("no reply comes") {
    auto late = test.get_later(calls, os::now() + std::chrono::milliseconds{50});
    CHECK(error_of<core::SystemException>(late).kind == ErrorKind::timeout);
  }
  CHECK_FALSE(has_ended(slow));
  test.finish();
  CHECK((slow.get() == block));
}

TEST_CASE("an asynchronous call whose server stops in the middle of the reply ends in time") {
  ByHand test;
  core::AsyncCalls calls;
  auto result = test.get_later(calls, os::now() + std::chrono::milliseconds{50});
  const auto reply = test.reply();
  test.begin(reply);
  const Error error = error_of<core::SystemException>(result);
  CHECK(error.kind == ErrorKind::timeout);
  CHECK(error.completed == Completion::maybe);
  test.finish();
  auto next = test.get_later(calls);
  const auto other = test.reply();
  REQUIRE(test.end.write(Bytes(other), soon()));
  CHECK((next.get() == block));
}

TEST_CASE("an asynchronous call whose server or ORB ends in the middle of the reply fails, and may have run") {
  ByHand test;
  core::AsyncCalls calls;
  auto result = test.get_later(calls);
  const auto reply = test.reply();
  test.begin(reply);
  SECTION("the server ends") { test.end.close(); }
  SECTION("the ORB ends") { calls.close(); }
  const Error error = error_of<core::SystemException>(result);
  CHECK(error.kind == ErrorKind::comm_failure);
  CHECK(error.completed == Completion::maybe);
}

}  // namespace arriving_reply_test
