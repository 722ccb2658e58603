// Tests that a server sends the replies which it keeps for a moment, to send several together: before it closes the
// connection, and before it waits for anything.
#include <catch2/catch.hpp>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "orb/core/lifecycle/orb_state.h"
#include "orb/core/objects/entry_counter.h"
#include "orb/core/requests/pending_requests.h"
#include "orb/core/server/server.h"
#include "orb/core/server/server_replies.h"
#include "orb/giop/headers.h"
#include "orb/giop/message.h"
#include "orb/transport/channel/channel.h"
#include "tests/support/await.h"
#include "tests/support/peers/bare_wire.h"
#include "tests/support/probe_servant.h"
#include "tests/support/quiet.h"
#include "tests/support/system/temp_directory.h"

namespace kept_reply_test {

using namespace corelane;
using namespace corelane::testing;

namespace {

using Message = std::vector<std::byte>;

Message joined(std::initializer_list<Message> messages) {
  Message all;
  for (const Message& message : messages) all.insert(all.end(), message.begin(), message.end());
  return all;
}

// With this patience no request is taken over, however slow the machine is. Then the requests of one read run one after
// the other.
const std::vector<std::string> patient{"-ORBBestEffortPatience", "10s"};

// A server, and a client without an ORB that is connected over TCP or over a channel.
struct Kept {
  explicit Kept(bool over_channel = false, std::vector<std::string> more = patient)
      : server(options(over_channel, std::move(more))),
        stream(over_channel ? *channels.connect(endpoint(), os::now() + long_enough)
                            : *wires.tcp.connect(endpoint(), os::now() + long_enough)),
        wire(stream) {}

  std::vector<std::string> options(bool over_channel, std::vector<std::string> more) const {
    more.insert(more.end(), {"-ORBEndpointListen", over_channel ? "channel:" + directory / "server" : "127.0.0.1:0"});
    return more;
  }
  transport::Endpoint endpoint() const { return server.orb->endpoints().front(); }

  Message request(std::uint32_t id, const char* operation) {
    begin_request(writer, id, key, operation);
    return whole();
  }
  // Returns a oneway.
  Message note(std::uint32_t id, const std::string& text = "noted") {
    giop::RequestHeader header;
    header.request_id = id;
    header.response_flags = giop::response::none;
    header.operation = "note";
    header.target.object_key = noted;
    giop::begin_request(writer, header, {}, giop::giop_1_2, native_order);
    writer.write_string(text);
    return whole();
  }
  Message ping(std::uint32_t id) { return request(id, "ping"); }
  Message whole() {
    REQUIRE(giop::finish(writer));
    return writer.to_vector();
  }

  // Receives the reply to that request.
  void await_reply(std::uint32_t id) {
    const auto message = wire.next();
    REQUIRE(message);
    REQUIRE(message->header.type == giop::MessageType::reply);
    CHECK(giop::parse_reply(*message, {})->header.request_id == id);
  }

  const Quiet quiet;  // clients that are cut off
  const TempDirectory directory;
  ProbeServer server;
  Wires wires;
  transport::ChannelTransport channels{*wires.reactor};
  const std::vector<std::byte> key = server.key();
  std::vector<std::byte> noted = key;  // the object of note()
  cdr::Writer writer;
  std::shared_ptr<transport::Connection> stream;
  Wire wire;
};

class SlowServant final : public ProbeServant {
 public:
  void note(const std::string&) override { released.wait(false); }
};

// note() of another object runs until the test ends, and the requests to that object wait for it.
struct Slowed : Kept {
  explicit Slowed(bool over_channel, std::vector<std::string> more = {}) : Kept(over_channel, std::move(more)) {
    const auto reference = IDL::traits<Probing::Probe>::narrow(server.orb.root()->servant_to_reference(slow));
    noted = reference->_reference()->address()->object_key;
  }
  ~Slowed() { slow->release(); }

  const CORBA::servant_reference<SlowServant> slow = CORBA::make_reference<SlowServant>();
};

}  // namespace

TEST_CASE("replies to requests of the same read are sent before MessageError") {
  Kept test(GENERATE(false, true));
  Message bad = test.ping(9);
  SECTION("a message without the magic number") { bad[0] = std::byte{'X'}; }
  SECTION("a version that does not exist") { bad[4] = std::byte{9}; }
  SECTION("a message type that does not exist") { bad[7] = std::byte{99}; }
  SECTION("a message of a type that only servers send") { bad[7] = static_cast<std::byte>(giop::MessageType::reply); }
  SECTION("a request whose header ends too early") {
    bad.resize(giop::header_size + 4);
    const std::uint32_t body = 4;
    std::memcpy(&bad[8], &body, sizeof body);
  }
  SECTION("a request with too many service contexts") {
    const std::vector<giop::ServiceContext> contexts(giop::Limits{}.contexts + 1, {1, {}});
    begin_request(test.writer, 9, test.key, "ping", giop::giop_1_2, native_order, contexts);
    bad = test.whole();
  }
  REQUIRE(test.wire.send(joined({test.ping(1), test.note(2), test.ping(3), bad})));
  test.await_reply(1);
  test.await_reply(3);
  const auto last = test.wire.next();
  REQUIRE(last);
  CHECK(last->header.type == giop::MessageType::message_error);
  CHECK(test.wire.closed_by_peer());
  CHECK(test.server.servant->pings == 2);
  CHECK(test.server.servant->notes().size() == 1);
}

TEST_CASE("replies to requests of the same read are sent before the server closes for a client that ends") {
  Kept test(GENERATE(false, true));
  const bool in_order = GENERATE(false, true);
  in_order ? giop::write_close_connection(test.writer, giop::giop_1_2)
           : giop::write_message_error(test.writer, giop::giop_1_2);
  const Message last = test.writer.to_vector();
  REQUIRE(test.wire.send(joined({test.ping(1), test.ping(2), last})));
  test.await_reply(1);
  test.await_reply(2);
  CHECK(test.wire.closed_by_peer());
}

TEST_CASE("replies to requests of the same read are sent to a client that has ended its own direction") {
  Kept test;
  Message last;
  SECTION("after a whole message") {}
  SECTION("in the middle of a message") {
    last = test.ping(9);
    last.resize(last.size() - 1);
  }
  SECTION("in the middle of a header") { last = Message(giop::header_size - 1); }
  REQUIRE(test.wire.send(joined({test.ping(1), test.ping(2), last})));
  test.wire.finish();
  test.await_reply(1);
  test.await_reply(2);
  CHECK(test.wire.closed_by_peer());
}

TEST_CASE("a reply is sent although the requests after it are too many to be read on") {
  Slowed test(GENERATE(false, true));
  const Message first = test.note(1);
  Message waiting;
  for (std::uint32_t id = 3; id < 103; ++id) waiting = joined({waiting, test.note(id)});
  REQUIRE(test.wire.send(joined({first, test.ping(2), waiting})));
  test.await_reply(2);
  CHECK_FALSE(test.slow->released);
}

TEST_CASE("a reply is sent although there is no memory for the requests after it") {
  // The first 64 KiB of the connection are free. After some more the connection is not read.
  Slowed test(false, {"-ORBLimitsMessageSize", "4096", "-ORBLimitsMemory", "65536", "-ORBTimeoutHeader", "1000s"});
  const std::string text(3500, 'n');
  for (std::uint32_t id = 1; id < 20; ++id) REQUIRE(test.wire.send(test.note(id, text)));
  REQUIRE(test.wire.send(test.request(100, "_non_existent")));
  test.await_reply(100);  // so the server has read everything before it
  Message waiting;
  for (std::uint32_t id = 20; id < 36; ++id) waiting = joined({waiting, test.note(id, text)});
  REQUIRE(test.wire.send(joined({test.ping(101), waiting})));
  test.await_reply(101);
  CHECK_FALSE(test.slow->released);
}

TEST_CASE("a reply that is kept counts as a request under way until it is sent") {
  Kept test;
  const std::shared_ptr<core::Server> server = test.server.orb.orb->state().serving();
  core::EntryCounter& requests = server->requests();
  core::PendingRequests pending(1);
  core::ServerReplies replies(*server, *test.stream, pending);
  REQUIRE(requests.enter() == core::Passage::active);
  replies.keep(test.ping(1));
  replies.keep(test.ping(2));
  (void)requests.leave();
  CHECK_FALSE(requests.empty());
  SECTION("when it is sent") {
    replies.send_kept();
    CHECK(test.wire.is_open());
  }
  SECTION("when the connection is closed") {
    replies.close();
    CHECK_FALSE(test.wire.is_open());
  }
  CHECK(replies.kept_bytes() == 0);
  await("nothing is under way", [&] { return requests.empty(); });
}

}  // namespace kept_reply_test
