// Tests a client that calls a port where something other than an ORB listens.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <string>
#include <thread>

#include "orb/core/client/reference.h"
#include "orb/core/connections/address.h"
#include "tests/orb/transport/kinds.h"
#include "tests/support/in_time.h"
#include "tests/support/peers/bare_server.h"
#include "tests/support/probe_servant.h"
#include "tests/support/quiet.h"
#include "tests/support/system/temp_directory.h"

namespace foreign_peer_test {

using namespace corelane;
using namespace corelane::testing;

namespace {

giop::Ior ior_at(const transport::Endpoint& endpoint) {
  return {.type_id = "IDL:Probing/Probe:1.0",
          .profiles = {core::profile_of({endpoint}, std::as_bytes(std::span("key")))}};
}

CORBA::object_reference<Probing::Probe> probe_at(TestOrb& client, const transport::Endpoint& endpoint,
                                                 const core::Reach& reach = {}) {
  return core::make_stub<Probing::Probe>(
      std::make_shared<core::Reference>(client.orb.shared(), ior_at(endpoint), reach));
}

template <typename Exception>
std::string text_of_failure(const CORBA::object_reference<Probing::Probe>& probe) try {
  probe->ping();
  return "no exception";
} catch (const Exception& exception) {
  return exception.what();
}

}  // namespace

TEMPLATE_TEST_CASE("a client says at once what came from a peer that does not speak GIOP", "", TcpV4, UnixSocket) {
  const Quiet quiet;
  StreamHarness<TestType> server;
  TestOrb client({"-ORBTimeoutRequest", "0s"});  // without a limit
  const auto probe = probe_at(client, server.listener->endpoint());
  const std::string said = GENERATE(as<std::string>{}, "SSH-2.0-OpenSSH_9.2p1\r\n", "HTTP/1.1 400 Bad Request\r\n\r\n",
                                    "hi", "GET", "GIXX", std::string("\0\1\2", 3), std::string(70'000, 'x'));
  const bool before_it_is_asked = GENERATE(true, false);
  std::jthread speaks([&] {
    const auto connection = server.accepted.take();
    if (!before_it_is_asked) read(connection, 12);
    REQUIRE(send(connection, said));
    read(connection, 1 << 20);  // until the client closes
  });
  const std::string text = text_of_failure<CORBA::COMM_FAILURE>(probe);
  std::string printed = said.substr(0, 48);
  for (char& c : printed) c = c >= ' ' && c <= '~' ? c : '.';
  CHECK_THAT(text, Catch::Contains("is no ORB; it sent \"" + printed) &&
                       Catch::Contains(transport::to_string(server.listener->endpoint())));
}

TEST_CASE("a peer that says its first bytes one by one is judged by all of them") {
  const Quiet quiet;
  StreamHarness<TcpV4> server;
  TestOrb client({"-ORBTimeoutRequest", "0s"});
  const auto probe = probe_at(client, server.listener->endpoint());
  std::jthread speaks([&] {
    const auto connection = server.accepted.take();
    Wire wire(connection);
    const auto request = wire.next();
    cdr::Writer reply;
    begin_reply_to(request.value(), reply);
    REQUIRE(giop::finish(reply));
    for (const std::byte& byte : reply.bytes()) REQUIRE(connection->send(Bytes{&byte, 1}));
    read(connection, 1 << 20);
  });
  CHECK_NOTHROW(probe->ping());
  client->destroy();
}

TEST_CASE("a client that waits in vain for a peer's first word says so") {
  const Quiet quiet;
  StreamHarness<TcpV4> server;
  TestOrb client({"-ORBTimeoutRequest", "20ms"});
  const auto probe = probe_at(client, server.listener->endpoint());
  CHECK_THAT(text_of_failure<CORBA::TIMEOUT>(probe), Catch::Contains("nothing has ever come from 127.0.0.1:") &&
                                                         Catch::Contains("its POA manager may hold requests") &&
                                                         Catch::Contains("see whether an ORB listens there") &&
                                                         Catch::Contains("corelane ping"));
  ProbeServer slow;
  const auto blocked = probe_of(client, slow.ior());
  in_time([&] { blocked->ping(); });
  try {
    blocked->block();
    FAIL("no exception");
  } catch (const CORBA::TIMEOUT& late) {
    CHECK_THAT(late.what(), !Catch::Contains("nothing has ever come"));
  }
  slow.servant->release();
}

TEST_CASE("a forwarded call goes no further than its reference may") {
  const Quiet quiet;
  StreamHarness<TcpV4> evil;
  StreamHarness<UnixSocket> guarded;
  TestOrb client({"-ORBTimeoutRequest", "0s"});
  std::jthread forwards([&] {
    const auto connection = evil.accepted.take();
    Wire wire(connection);
    // Bound: until the client closes.
    while (const auto request = wire.next()) forward(wire, *request, ior_at(guarded.listener->endpoint()));
  });
  SECTION("a call that must stay on the network is not forwarded to a Unix socket") {
    const auto probe = probe_at(client, evil.listener->endpoint(), core::Reach::network());
    CHECK_THAT(text_of_failure<CORBA::INV_OBJREF>(probe), Catch::Contains("may not use"));
  }
  SECTION("a call that may go to one user's sockets is not forwarded to another user's") {
    const auto probe = probe_at(client, evil.listener->endpoint(), core::Reach::network_and_sockets_of(geteuid() + 1));
    CHECK_THAT(text_of_failure<CORBA::TRANSIENT>(probe), Catch::Contains("cannot connect to unix:"));
  }
  SECTION("other calls are forwarded there") {
    const auto probe = probe_at(client, evil.listener->endpoint());
    std::jthread answers([&] {
      const auto connection = guarded.accepted.take();
      Wire wire(connection);
      const auto request = wire.next();
      cdr::Writer reply;
      begin_reply_to(request.value(), reply);
      REQUIRE(giop::finish(reply));
      wire.send(reply.bytes());
      wire.next();  // until the client closes
    });
    CHECK_NOTHROW(probe->ping());
    client->destroy();
  }
  client->destroy();
}

TEST_CASE("a client of a channel is not asked whether an ORB listens there") {
  const Quiet quiet;
  const TempDirectory place;
  ProbeServer server({"-ORBEndpointListen", "channel:" + (place / "c")});
  server.orb.root()->the_POAManager()->hold_requests(false);
  TestOrb client({"-ORBTimeoutRequest", "20ms"});
  const auto probe = probe_of(client, server.ior());
  CHECK_THAT(text_of_failure<CORBA::TIMEOUT>(probe),
             Catch::Contains("over this connection: the server may be stopped or busy"));
}

}  // namespace foreign_peer_test
