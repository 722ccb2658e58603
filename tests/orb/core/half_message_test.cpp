// How long a server waits for the rest of a message, and for a client that does not read.
#include <sys/socket.h>

#include <thread>

#include "orb/core/orb_state.h"
#include "orb/core/reference.h"
#include "orb/giop/headers.h"
#include "orb/os/clock.h"
#include "orb/rt/rt.h"
#include "orb/transport/detail/address.h"
#include "orb/transport/detail/socket.h"
#include "orb/transport/tcp.h"
#include "tests/support/bare_wire.h"
#include "tests/support/captured_errors.h"
#include "tests/support/probe_servant.h"
#include "tests/support/temp_directory.h"

using namespace corelane;
using namespace corelane::testing;
using namespace std::chrono_literals;

namespace {

// A client that sends bytes as it likes.
class Dribbler {
 public:
  explicit Dribbler(const ProbeServer& server)
      : stream_(std::move(*tcp_.connect(server.orb->endpoints().front(), os::now() + long_enough))),
        key_(server.reference->_reference()->address()->object_key) {}

  // A whole ping request, with so many bytes too many.
  std::vector<std::byte> request(std::size_t more = 0) {
    giop::RequestHeader header;
    header.request_id = ++id_;
    header.target.object_key = key_;
    header.operation = "ping";
    giop::begin_request(writer_, header, {});
    if (more > 0) writer_.write_bytes(std::vector<std::byte>(more));
    REQUIRE(giop::finish(writer_));
    return {writer_.bytes().begin(), writer_.bytes().end()};
  }
  bool send(Bytes bytes) { return stream_->send(bytes).has_value(); }
  // Bytes that the server sent; 0 when it ended the stream.
  std::size_t receive() {
    std::array<std::byte, 1024> buffer;
    const auto got = stream_->receive(buffer, os::now() + long_enough, {});
    return got ? *got : 0;
  }
  // The type of the next message; it comes in one piece.
  std::optional<giop::MessageType> answer() {
    std::array<std::byte, 1024> buffer;
    const auto got = stream_->receive(buffer, os::now() + long_enough, {});
    if (!got || *got < giop::header_size) return std::nullopt;
    const auto header = giop::parse_header(Bytes(buffer).first(giop::header_size));
    return header ? std::optional(header->type) : std::nullopt;
  }

 private:
  std::unique_ptr<transport::Reactor> reactor_ = std::move(*transport::Reactor::start());
  transport::TcpTransport tcp_{*reactor_};
  std::shared_ptr<transport::Connection> stream_;
  const std::vector<std::byte> key_;
  cdr::Writer writer_;
  std::uint32_t id_ = 0;
};

// A client that only sends, and waits with that until the server has taken it.
class Deaf {
 public:
  explicit Deaf(const transport::Endpoint& endpoint) : stream_(connect(endpoint)) {}

  // A whole request whose reply is as large. False: the server has ended the connection.
  bool echo(Bytes key, std::size_t size) {
    giop::RequestHeader header;
    header.request_id = ++id_;
    header.target.object_key = key;
    header.operation = "echo";
    giop::begin_request(writer_, header, {});
    writer_.write_string(std::string(size, 'x'));
    REQUIRE(giop::finish(writer_));
    return send(writer_.bytes());
  }

 private:
  static os::Fd connect(const transport::Endpoint& endpoint) {
    const auto address = endpoint.kind == transport::EndpointKind::unix_socket
                             ? transport::unix_address(endpoint.path)
                             : transport::resolve(endpoint, transport::AddressUse::connect, never)->front();
    return std::move(*transport::connect_stream(address, never));
  }
  bool send(Bytes bytes) {
    while (!bytes.empty()) {  // bound: each turn sends something
      const ssize_t sent = ::send(stream_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes = bytes.subspan(static_cast<std::size_t>(sent));
    }
    return true;
  }

  const os::Fd stream_;
  cdr::Writer writer_;
  std::uint32_t id_ = 0;
};

}  // namespace

TEST_CASE("a client whose every packet ends inside another message is served on and on") {
  constexpr auto patience = 300ms;
  ProbeServer server({"-ORBTimeoutHeader", "300ms"});
  Dribbler client(server);
  std::vector<std::byte> bytes = client.request();
  const std::size_t half = bytes.size() / 2;
  const Time begin = os::now();
  REQUIRE(client.send(Bytes(bytes).first(half)));
  // Nobody keeps this thread from being late; then it may be cut off, but never sooner.
  for (Time before = begin; before < begin + 3 * patience;) {
    const std::vector<std::byte> next = client.request();
    bytes.insert(bytes.end(), next.begin(), next.begin() + static_cast<std::ptrdiff_t>(half));
    const Time now = os::now();
    if (!client.send(Bytes(bytes).subspan(half)) || client.receive() == 0) {
      CHECK(os::now() >= before + patience);
      return;
    }
    before = now;
    bytes = next;
  }
}

TEST_CASE("a client that stalls in the middle of a message is cut off") {
  ProbeServer server({"-ORBTimeoutHeader", "20ms"});
  Dribbler client(server);
  REQUIRE(client.send(Bytes(client.request()).first(20)));
  CHECK(client.receive() == 0);
  while (rt::report(*server.orb.orb).cut_off_clients == 0) std::this_thread::yield();
}

TEST_CASE("who sends no more of a long message is told so and cut off where another client needs room") {
  ProbeServer server({"-ORBLimitsMemory", "100000", "-ORBLimitsMessageSize", "400000", "-ORBTimeoutHeader", "4s"});
  const transport::MemoryBudget& all = *server.orb->state().memory;
  const std::size_t uncounted = all.bounds().free;
  Dribbler first(server), second(server);
  const std::vector<std::byte> one = first.request(350'000), other = second.request(GENERATE(200'000u, 380'000u));
  REQUIRE(first.send(Bytes(one).first(one.size() - 1)));
  while (all.used() < one.size() - 1 - uncounted) std::this_thread::yield();
  REQUIRE(second.send(other));
  CHECK(first.answer() == giop::MessageType::reply);
  CHECK(first.receive() == 0);
  CHECK(second.answer() == giop::MessageType::reply);
  CHECK(rt::report(*server.orb.orb).cut_off_clients == 1);
  while (all.used() > 0) std::this_thread::yield();
}

TEST_CASE("a server whose limits.memory is less than one message says what a client may make it hold") {
  const bool is_less = GENERATE(true, false);
  const CapturedErrors log;
  const ProbeServer server({"-ORBLimitsMemory", is_less ? "65535" : "65536", "-ORBLimitsMessageSize", "65536"});
  CHECK(log.times("limits.memory = 65535 is less than limits.message_size = 65536: each client may still make this "
                  "server hold one message of that size") == (is_less ? 1u : 0u));
}

TEST_CASE("a client that calls and does not read its replies is cut off, counted, and harms nobody") {
  const TempDirectory directory;
  // Replies wait until the peer has taken nothing for too long, whatever bounds them.
  const auto [bound, patience] =
      GENERATE(table<std::string, std::string>({{"-ORBLimitsBacklog", "50ms"}, {"-ORBLimitsMemory", "50ms"}}));
  ProbeServer server({bound, "65536", "-ORBTimeoutBacklog", patience, "-ORBRuntimeDirectory", directory.path(),
                      "-ORBEndpointListen", "127.0.0.1:0, unix:"});
  const std::size_t endpoint = GENERATE(0u, 1u);
  Deaf deaf(server.orb->endpoints().at(endpoint));
  // Bound: the buffers of both sockets and the server's backlog are finite. The client has none, which it could fill
  // while the server is kept from its core: then it would be the client that ends.
  while (deaf.echo(server.reference->_reference()->address()->object_key, 60'000)) continue;
  // Bound: its patience. Nothing more is read of a client that takes no replies, so it does not fill the backlog of
  // all.
  while (rt::report(*server.orb.orb).cut_off_clients == 0) std::this_thread::yield();
  CHECK(rt::report(*server.orb.orb).cut_off_clients == 1);
  TestOrb client;
  CHECK(probe_of(client, server.ior())->add(1, 2) == 3);
}

TEST_CASE("long replies and oneways of many threads over one connection all arrive, whatever the backlog holds") {
  const TempDirectory directory;
  const std::string listen = GENERATE("127.0.0.1:0", "unix:", "channel:");
  const std::vector<std::string> options{"-ORBLimitsBacklog",  "65536", "-ORBRuntimeDirectory", directory.path(),
                                         "-ORBEndpointListen", listen};
  ProbeServer server(options);
  TestOrb client(options);
  const auto probe = probe_of(client, server.ior());
  constexpr int threads = 4, rounds = 3;
  std::vector<std::jthread> callers;
  for (int i = 0; i < threads; ++i)
    callers.emplace_back([&, letter = static_cast<char>('a' + i)] {
      const std::string text(4'000'000, letter);  // beyond what any socket or channel takes at once
      for (int round = 0; round < rounds; ++round) {
        probe->note(text);
        if (probe->echo(text) != text) FAIL("a reply holds bytes of another");
      }
    });
  callers.clear();
  while (server.servant->notes().size() < threads * rounds) std::this_thread::yield();  // bound: all were sent
  CHECK(rt::report(*server.orb.orb).cut_off_clients == 0);
}
