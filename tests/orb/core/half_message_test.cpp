// How long a server waits for the rest of a message.
#include <thread>

#include "orb/core/orb_state.h"
#include "orb/core/reference.h"
#include "orb/giop/headers.h"
#include "orb/os/clock.h"
#include "orb/rt/rt.h"
#include "orb/transport/tcp.h"
#include "tests/support/probe_servant.h"

using namespace corelane;
using namespace corelane::testing;
using namespace std::chrono_literals;

namespace {

// A client that sends bytes as it likes.
class Dribbler {
 public:
  explicit Dribbler(const ProbeServer& server)
      : stream_(std::move(*tcp_.connect(server.orb->endpoints().front(), os::now() + 5s))),
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
    const auto got = stream_->receive(buffer, os::now() + 10s, {});
    return got ? *got : 0;
  }
  // The type of the next message; it comes in one piece.
  std::optional<giop::MessageType> answer() {
    std::array<std::byte, 1024> buffer;
    const auto got = stream_->receive(buffer, os::now() + 10s, {});
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

}  // namespace

TEST_CASE("a client whose every packet ends inside another message is served on and on") {
  const Duration patience = 1000ms;
  ProbeServer server({"-ORBTimeoutHeader", "1000ms"});
  Dribbler client(server);
  std::vector<std::byte> bytes = client.request();
  const std::size_t half = bytes.size() / 2;
  REQUIRE(client.send(Bytes(bytes).first(half)));
  // Bound: the clock.
  for (const Time end = os::now() + 3 * patience; os::now() < end;) {
    const std::vector<std::byte> next = client.request();
    bytes.insert(bytes.end(), next.begin(), next.begin() + static_cast<std::ptrdiff_t>(half));
    REQUIRE(client.send(Bytes(bytes).subspan(half)));
    REQUIRE(client.receive() > 0);
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

TEST_CASE("half messages of all clients share one budget and who exceeds it is told and cut off") {
  ProbeServer server({"-ORBLimitsHalfMessages", "100000"});
  const giop::ByteBudget& budget = *server.orb->state().half_messages;
  Dribbler first(server), second(server), third(server);
  const std::vector<std::byte> large = first.request(80'000);
  REQUIRE(first.send(Bytes(large).first(60'000)));
  while (budget.used() < 60'000) std::this_thread::yield();
  REQUIRE(second.send(Bytes(large).first(60'000)));
  CHECK(second.answer() == giop::MessageType::message_error);
  CHECK(second.receive() == 0);
  while (budget.used() > 60'000) std::this_thread::yield();
  REQUIRE(third.send(third.request()));
  CHECK(third.answer() == giop::MessageType::reply);
  REQUIRE(first.send(Bytes(large).subspan(60'000)));
  CHECK(first.answer() == giop::MessageType::reply);
}
