// How long a server waits for the rest of a message.
#include "orb/core/reference.h"
#include "orb/giop/headers.h"
#include "orb/os/clock.h"
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

  // A whole ping request.
  std::vector<std::byte> request() {
    giop::RequestHeader header;
    header.request_id = ++id_;
    header.target.object_key = key_;
    header.operation = "ping";
    giop::begin_request(writer_, header, {});
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
  const Duration patience = 400ms;
  ProbeServer server({"-ORBTimeoutHeader", "400ms"});
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
}
