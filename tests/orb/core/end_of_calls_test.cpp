// Tests what happens to calls that are under way when their ORB ends, and to requests that its server has not read yet.
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "orb/base/errors.h"
#include "orb/core/client/async_invocation.h"
#include "orb/core/client/reference.h"
#include "orb/core/connections/address.h"
#include "orb/core/lifecycle/orb_state.h"
#include "tests/orb/transport/kinds.h"
#include "tests/support/peers/bare_wire.h"
#include "tests/support/probe_servant.h"
#include "tests/support/quiet.h"
#include "tests/support/system/temp_directory.h"

namespace end_of_calls_test {

using namespace corelane;
using namespace corelane::testing;
using namespace std::chrono_literals;

namespace {

CORBA::object_reference<Probing::Probe> probe_at(TestOrb& client, const transport::Endpoint& endpoint) {
  giop::Ior ior{.type_id = "IDL:Probing/Probe:1.0",
                .profiles = {core::profile_of({endpoint}, std::as_bytes(std::span("key")))}};
  return core::make_stub<Probing::Probe>(std::make_shared<core::Reference>(client.orb.shared(), std::move(ior)));
}

// Counts the oneway requests that come over the connection until it ends.
int requests_of(ConnectionPtr connection) {
  Wire wire(std::move(connection));
  int count = 0;
  while (const auto message = wire.next()) count += message->header.type == giop::MessageType::request;
  return count;
}

}  // namespace

TEMPLATE_TEST_CASE("an ORB that ends sends the oneways that wait, up to timeout.flush", "", TcpV4, UnixSocket,
                   SharedMemory) {
  const Quiet quiet;
  StreamHarness<TestType> server;
  const bool in_time = GENERATE(true, false);
  TestOrb client({"-ORBTimeoutFlush", in_time ? "60s" : "1ms"});
  const auto probe = probe_at(client, server.listener->endpoint());
  const int sent = 100;
  const std::string much(100'000, 'x');
  for (int i = 0; i < sent; ++i) probe->note(much);
  std::jthread ends([&] { client->destroy(); });
  if (!in_time) ends.join();
  const int came = requests_of(server.accepted.take());
  CHECK((in_time ? came == sent : came < sent));
}

TEST_CASE("an ORB that ends with nothing to send does not wait") {
  const Quiet quiet;
  StreamHarness<TcpV4> server;
  TestOrb client({"-ORBTimeoutFlush", "366000s"});
  const auto probe = probe_at(client, server.listener->endpoint());
  probe->note("short");
  const auto connection = server.accepted.take();
  client->destroy();
  CHECK(requests_of(connection) == 1);
}

TEST_CASE("each handler hears exactly one end when its ORB is destroyed") {
  const Quiet quiet;
  const TempDirectory directory;
  const std::string kind = GENERATE(as<std::string>{}, "127.0.0.1:0", "unix:", "channel:");
  const bool more_threads = GENERATE(false, true);
  ProbeServer server({"-ORBEndpointListen", kind.ends_with(':') ? kind + directory / "s" : kind});
  auto client = std::make_unique<TestOrb>();
  constexpr int calls = 20;
  std::vector<std::atomic<int>> heard(calls);
  {
    const auto probe = probe_of(*client, server.ior());
    static constexpr core::Operation block{.name = "block"}, ping{.name = "ping"};
    const auto post = [&](int i) {
      core::AsyncInvocation(*probe, i % 2 == 0 ? block : ping).send([&heard, i](core::AsyncReply&) {
        ++heard[static_cast<std::size_t>(i)];
      });
    };
    for (int i = 0; i < calls; ++i) {
      if (more_threads)
        std::jthread([&] { post(i); }).join();
      else
        post(i);
    }
  }
  client.reset();
  for (const auto& count : heard) CHECK(count == 1);
  server.servant->release();
}

TEMPLATE_TEST_CASE("each handler hears exactly one end though the server never read its request", "", TcpV4, UnixSocket,
                   SharedMemory) {
  const Quiet quiet;
  StreamHarness<TestType> server;
  const std::string text(GENERATE(10u, 1'000'000u), 'x');
  auto client =
      std::make_unique<TestOrb>(std::vector<std::string>{"-ORBTimeoutRequest", "0s", "-ORBTimeoutFlush", "1ms"});
  constexpr int calls = 20;
  std::vector<std::atomic<int>> heard(calls);
  {
    const auto probe = probe_at(*client, server.listener->endpoint());
    static constexpr core::Operation echo{.name = "echo"};
    for (int i = 0; i < calls; ++i) {
      core::AsyncInvocation call(*probe, echo);
      call.marshal(text);
      call.send([&heard, i](core::AsyncReply& reply) {
        ++heard[static_cast<std::size_t>(i)];
        CHECK(reply.exception());
      });
    }
  }
  const auto unread = server.accepted.take();
  client.reset();
  for (const auto& count : heard) CHECK(count == 1);
}

TEST_CASE("each handler hears exactly one end when the ORB that ends serves its calls itself") {
  const Quiet quiet;
  constexpr int calls = 20;
  std::vector<std::atomic<int>> heard(calls);
  {
    ProbeServer server;
    static constexpr core::Operation block{.name = "block"};
    for (int i = 0; i < calls; ++i)
      core::AsyncInvocation(*server.reference, block).send([&heard, i](core::AsyncReply&) {
        ++heard[static_cast<std::size_t>(i)];
      });
    server.servant->wait_until_blocked();
    std::jthread releases([&] { server.servant->release(); });
    server.orb->destroy();
  }
  for (const auto& count : heard) CHECK(count == 1);
}

TEST_CASE("handlers that make calls while their ORB ends hear their ends, too") {
  const Quiet quiet;
  ProbeServer server;
  auto client = std::make_unique<TestOrb>();
  std::atomic<int> heard{0}, posted{0};
  {
    const auto probe = probe_of(*client, server.ior());
    static constexpr core::Operation ping{.name = "ping"}, block{.name = "block"};
    for (int i = 0; i < 10; ++i) {
      ++posted;
      core::AsyncInvocation(*probe, block).send([&, probe](core::AsyncReply&) {
        ++heard;
        try {
          core::AsyncInvocation(*probe, ping).send([&](core::AsyncReply&) { ++heard; });
          ++posted;
        } catch (const CORBA::SystemException&) {
          // The call was not sent, so its handler is not called.
        }
      });
    }
  }
  client.reset();
  CHECK(heard == posted);
  server.servant->release();
}

TEST_CASE("an ORB that ends does not wait for a thread that connects, and that thread ends, too") {
  const Quiet quiet;
  const TempDirectory directory;
  const bool is_channel = GENERATE(false, true), accepts = GENERATE(false, true);
  const bool is_tcp = GENERATE(false, true);
  if (is_tcp && (is_channel || accepts)) return;  // a TCP port that accepts completes the connect
  if (!is_tcp && !is_channel && accepts) return;  // so does a Unix socket
  // Makes a listener whose queue is full, or one that accepts a channel's client and never answers.
  const std::string path = directory / "silent";
  sockaddr_un unix_address{.sun_family = AF_UNIX, .sun_path = {}};
  path.copy(unix_address.sun_path, path.size());
  sockaddr_in port_address{};
  port_address.sin_family = AF_INET;
  port_address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* const address =
      is_tcp ? reinterpret_cast<sockaddr*>(&port_address) : reinterpret_cast<sockaddr*>(&unix_address);
  socklen_t size = is_tcp ? sizeof port_address : sizeof unix_address;
  const int family = is_tcp ? AF_INET : AF_UNIX, type = is_channel ? SOCK_SEQPACKET : SOCK_STREAM;
  const os::Fd silent(::socket(family, type | SOCK_CLOEXEC, 0));
  REQUIRE(::bind(silent.get(), address, size) == 0);
  REQUIRE(::listen(silent.get(), 0) == 0);
  REQUIRE(::getsockname(silent.get(), address, &size) == 0);
  std::vector<os::Fd> callers(accepts ? 0 : 4);
  for (os::Fd& caller : callers) {
    caller = os::Fd(::socket(family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    (void)::connect(caller.get(), address, size);
  }
  const auto endpoint = is_tcp       ? transport::Endpoint{"127.0.0.1", ntohs(port_address.sin_port)}
                        : is_channel ? transport::channel_endpoint(path)
                                     : transport::unix_endpoint(path);
  TestOrb client({"-ORBTimeoutConnect", "366000s", "-ORBTimeoutRequest", "0s"});
  const auto probe = probe_at(client, endpoint);
  const bool asynchronous = GENERATE(false, true);
  std::promise<corelane::Error> ended;
  std::jthread calls([&] {
    static constexpr core::Operation ping{.name = "ping"};
    try {
      if (asynchronous) core::AsyncInvocation(*probe, ping).send([](core::AsyncReply&) {});
      probe->ping();
    } catch (const CORBA::SystemException& exception) {
      ended.set_value(exception.error());
    }
  });
  std::jthread waits([&] { CHECK_THROWS_AS(probe->ping(), CORBA::BAD_INV_ORDER); });
  // One thread connects, and one waits for it.
  while (client->state().connections.waiting() == 0) std::this_thread::yield();
  client->destroy();
  CHECK(ended.get_future().get() == errors::orb_destroyed);
}

}  // namespace end_of_calls_test
