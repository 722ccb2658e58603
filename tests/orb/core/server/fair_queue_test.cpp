// Tests the queues that all clients of a server share. A client that fills its share leaves room for others, whichever
// transports they use.
#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "orb/core/client/reference.h"
#include "orb/transport/unix/unix.h"
#include "tests/support/peers/bare_wire.h"
#include "tests/support/probe_servant.h"
#include "tests/support/system/temp_directory.h"

namespace fair_queue_test {
namespace {

using namespace corelane;
using namespace corelane::testing;
using transport::TransportKind;
namespace kinds = transport::kinds;

constexpr std::size_t capacity = 8;
constexpr int flood = 3 * capacity;

// A server whose block() waits until release().
class Server {
 public:
  explicit Server(bool holds = false, std::vector<std::string> more = {})
      : orb_(options(std::move(more))), servant(CORBA::make_reference<ProbeServant>()) {
    const auto manager = orb_.root()->the_POAManager();
    holds ? manager->hold_requests(false) : manager->activate();
    const auto reference = IDL::traits<Probing::Probe>::narrow(orb_.root()->servant_to_reference(servant));
    key_ = reference->_reference()->address()->object_key;
  }
  ~Server() { servant->release(); }

  std::shared_ptr<transport::Connection> connect(const TransportKind* kind) {
    const auto& all = orb_->endpoints();
    const auto found = std::find_if(all.begin(), all.end(), [&](const auto& each) { return each.kind == kind; });
    REQUIRE(found != all.end());
    const Time deadline = os::now() + long_enough;
    return std::move(*(kind == &kinds::tcp ? wires_.tcp.connect(*found, deadline) : unix_.connect(*found, deadline)));
  }
  TestOrb& orb() { return orb_; }
  Bytes key() const { return key_; }

 private:
  std::vector<std::string> options(std::vector<std::string> more) const {
    std::vector<std::string> all{"-ORBRuntimeDirectory", directory_.path(),           "-ORBEndpointListen",
                                 "127.0.0.1:0, unix:",   "-ORBDispatchQueueCapacity", std::to_string(capacity)};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }

  const TempDirectory directory_;
  Wires wires_;
  transport::UnixTransport unix_{*wires_.reactor};
  TestOrb orb_;
  std::vector<std::byte> key_;

 public:
  CORBA::servant_reference<ProbeServant> servant;
};

// A client that sends without waiting for answers.
class Client {
 public:
  Client(Server& server, const TransportKind* kind) : wire_(server.connect(kind)), key_(server.key()) {}
  void send(std::string_view operation) {
    begin_request(writer_, ++id_, key_, operation);
    REQUIRE(wire_.send(writer_));
  }
  // Returns the status of the next reply.
  giop::ReplyStatus reply() {
    const auto message = wire_.next();
    REQUIRE(message);
    const auto reply = giop::parse_reply(*message, {});
    REQUIRE(reply);
    return reply->header.status;
  }

 private:
  Wire wire_;
  const Bytes key_;
  cdr::Writer writer_;
  std::uint32_t id_ = 0;
};

}  // namespace

TEST_CASE("a client that fills the queue of requests without a contract is refused alone") {
  const auto [first, second] =
      GENERATE(std::pair(&kinds::tcp, &kinds::unix_socket), std::pair(&kinds::unix_socket, &kinds::tcp));
  // With these options requests wait in the queue.
  Server server(false, {"-ORBBestEffortServer", "sporadic", "-ORBPoolRealTime", "on"});
  Client hog(server, first), other(server, second);
  for (int i = 0; i < flood; ++i) hog.send("block");
  CHECK(hog.reply() == giop::ReplyStatus::system_exception);  // refused while the other requests wait
  other.send("ping");
  other.send("_non_existent");  // answered by the reader, so the server has read ping()
  CHECK(other.reply() == giop::ReplyStatus::no_exception);
  server.servant->release();
  CHECK(other.reply() == giop::ReplyStatus::no_exception);
  CHECK(server.servant->pings == 1);
}

TEST_CASE("a client that fills the room for requests which are held is refused alone") {
  const auto [first, second] =
      GENERATE(std::pair(&kinds::tcp, &kinds::unix_socket), std::pair(&kinds::unix_socket, &kinds::tcp));
  Server server(true);
  Client hog(server, first), other(server, second);
  for (int i = 0; i < flood; ++i) hog.send("ping");
  CHECK(hog.reply() == giop::ReplyStatus::system_exception);
  other.send("ping");
  other.send("_non_existent");  // answered at once, so the server has read ping()
  CHECK(other.reply() == giop::ReplyStatus::no_exception);
  server.orb().root()->the_POAManager()->activate();
  CHECK(other.reply() == giop::ReplyStatus::no_exception);
  CHECK(server.servant->pings > 1);  // the first client's held requests have run, too
}

}  // namespace fair_queue_test
