// Tests invocations over TCP, Unix sockets, channels and vsock, to a pool of leader and followers, and within the ORB.
// Runs the common suite, and tests what only one of these ways has.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "orb/base/minor.h"
#include "orb/core/client/reference.h"
#include "orb/core/objects/poa_manager_state.h"
#include "tests/support/modes.h"
#include "tests/support/probe_servant.h"
#include "tests/support/system/temp_directory.h"
#include "tests/support/system/vsock.h"

using namespace corelane::testing;

namespace {

// Returns a loopback address that only this process uses. A port there stays free after it was closed. On 127.0.0.1
// another process could take it.
std::string own_address() {
  const int pid = ::getpid();
  return "127." + std::to_string(64 + (pid >> 16)) + "." + std::to_string(pid >> 8 & 255) + "." +
         std::to_string(pid & 255);
}

// A server with one kind of endpoint, and a client that has its reference.
struct OverSocket {
  explicit OverSocket(const std::string& listen)
      : server({"-ORBEndpointListen", listen}), reference(probe_of(client, server.ior())) {}
  CORBA::object_reference<Probing::Probe> probe() { return reference; }
  CORBA::object_reference<Probing::Probe> server_reference() { return server.reference; }
  ProbeServant& servant() { return *server.servant; }
  CORBA::object_reference<PortableServer::POA> poa() { return server.orb.root(); }

  ProbeServer server;
  TestOrb client;
  CORBA::object_reference<Probing::Probe> reference;
};

struct OverTcp : OverSocket {
  OverTcp() : OverSocket("127.0.0.1:0") {}
};

struct TestPath {
  const TempDirectory directory{};
};
struct OverUnix : TestPath, OverSocket {
  OverUnix() : OverSocket("unix:" + directory.path() + "/probe.sock") {}
};

struct OverChannel : TestPath, OverSocket {
  OverChannel() : OverSocket("channel:" + directory.path() + "/probe.sock") {}
};

struct OverVsock : OverSocket {
  static std::optional<std::string> missing() { return why_no_vsock(); }
  OverVsock() : OverSocket("vsock:1:0") {}
};

struct ByFollowers {
  CORBA::object_reference<Probing::Probe> probe() { return reference; }
  CORBA::object_reference<Probing::Probe> server_reference() { return server.reference; }
  ProbeServant& servant() { return *server.servant; }
  CORBA::object_reference<PortableServer::POA> poa() { return server.orb.root(); }

  ProbeServer server{{"-ORBDispatchMode", "leader-followers"}};
  TestOrb client;
  CORBA::object_reference<Probing::Probe> reference = probe_of(client, server.ior());
};

struct Collocated {
  CORBA::object_reference<Probing::Probe> probe() { return server.reference; }
  CORBA::object_reference<Probing::Probe> server_reference() { return server.reference; }
  ProbeServant& servant() { return *server.servant; }
  CORBA::object_reference<PortableServer::POA> poa() { return server.orb.root(); }

  ProbeServer server;
};

using InvocationWays = WithFollowers<ByFollowers, OverTcp, OverUnix, OverChannel, OverVsock, Collocated>;

}  // namespace

#include "tests/support/invocation_suite.h"

TEST_CASE("a collocated call runs on the caller's thread") {
  ProbeServer server;
  std::thread::id ran_on;
  struct Here : ProbeServant {
    explicit Here(std::thread::id& id) : id_(id) {}
    void ping() override { id_ = std::this_thread::get_id(); }
    std::thread::id& id_;
  };
  const auto servant = CORBA::make_reference<Here>(ran_on);
  const auto reference = IDL::traits<Probing::Probe>::narrow(server.orb.root()->servant_to_reference(servant));
  reference->ping();
  CHECK(ran_on == std::this_thread::get_id());
}

TEST_CASE("a reference read from text within its own ORB is collocated too") {
  ProbeServer server;
  const auto again = probe_of(server.orb, server.ior());
  again->ping();
  CHECK(server.servant->pings == 1);
  CHECK(again->_reference()->is_local());
}

TEST_CASE("an argument too many is MARSHAL before the servant runs") {
  OverTcp way;
  try {
    way.probe()->add_too_much();
    FAIL("no exception");
  } catch (const CORBA::MARSHAL& bad) {
    CHECK(bad.minor() == corelane::minor::trailing_bytes);
    CHECK(bad.completed() == CORBA::COMPLETED_NO);
  }
}

TEST_CASE("an argument of the wrong type is MARSHAL before the servant runs") {
  OverTcp way;
  try {
    way.probe()->echo_a_number();
    FAIL("no exception");
  } catch (const CORBA::MARSHAL& bad) {
    CHECK(bad.completed() == CORBA::COMPLETED_NO);
  }
}

TEST_CASE("a string with a NUL is refused by the caller's side") {
  OverTcp way;
  CHECK_THROWS_AS(way.probe()->echo(std::string("a\0b", 3)), CORBA::SystemException);
  CHECK(way.probe()->echo("ab") == "ab");
}

TEST_CASE("a call on nil raises INV_OBJREF") {
  const CORBA::object_reference<Probing::Probe> nil;
  CHECK_THROWS_AS(nil->ping(), CORBA::INV_OBJREF);
}

TEST_CASE("a reference of an earlier process of the same address does not exist") {
  std::string old;
  std::uint16_t port = 0;
  {
    ProbeServer server({"-ORBEndpointListen", own_address() + ":0"});
    old = server.ior();
    port = server.orb->endpoints().front().port;
  }
  ProbeServer server({"-ORBEndpointListen", own_address() + ":" + std::to_string(port)});
  TestOrb client;
  const auto stub = client->string_to_object(old);
  CHECK_THROWS_AS(stub->_is_a("IDL:Probing/Other:1.0"), CORBA::OBJECT_NOT_EXIST);
}

TEST_CASE("a server that went away is TRANSIENT and nothing ran") {
  TestOrb client;
  std::string ior;
  {
    ProbeServer server({"-ORBEndpointListen", own_address() + ":0"});
    ior = server.ior();
  }
  const auto stub = client->string_to_object(ior);
  try {
    stub->_is_a("IDL:Probing/Other:1.0");
    FAIL("no exception");
  } catch (const CORBA::TRANSIENT& gone) {
    CHECK(gone.completed() == CORBA::COMPLETED_NO);
  }
}

TEST_CASE("a client calls on when its server was shut down in good order and started again") {
  TestOrb client;
  const std::vector<std::string> any_port{"-ORBEndpointListen", own_address() + ":0"};
  auto first = std::make_unique<ProbeServer>(any_port);
  const std::string place = own_address() + ":" + std::to_string(first->orb->endpoints().front().port);
  const auto at = "corbaloc:iiop:1.2@" + place + "/any";
  const auto stub = client->string_to_object(at);
  CHECK_THROWS_AS(stub->_is_a("IDL:X:1.0"), CORBA::OBJECT_NOT_EXIST);
  first.reset();
  ProbeServer second({"-ORBEndpointListen", place});
  CHECK_THROWS_AS(stub->_is_a("IDL:X:1.0"), CORBA::OBJECT_NOT_EXIST);
}

TEST_CASE("shutdown lets the running request finish and turns new ones away") {
  ProbeServer server;
  TestOrb client;
  const auto probe = probe_of(client, server.ior());
  std::jthread waiting([&] { probe->block(); });
  server.servant->wait_until_blocked();
  server.orb->shutdown(false);
  CHECK_THROWS_AS(probe->ping(), CORBA::TRANSIENT);
  server.servant->release();
  waiting.join();
  server.orb->run();  // returns at once
  server.orb->shutdown(true);
}

TEST_CASE("a shutdown that waits after one that did not waits for the running request all the same") {
  ProbeServer server;
  TestOrb client;
  const auto probe = probe_of(client, server.ior());
  std::atomic<bool> answered{false}, ended{false};
  std::jthread calling([&] {
    probe->block();
    answered = true;
  });
  server.servant->wait_until_blocked();
  server.orb->shutdown(false);
  std::jthread waiting([&] {
    server.orb->shutdown(true);
    ended = true;
  });
  std::jthread running([&] { server.orb->run(); });
  CHECK_THROWS_AS(probe->ping(), CORBA::TRANSIENT);  // one round trip, in which shutdown() could end too early
  CHECK_FALSE(ended);
  CHECK_FALSE(answered);
  server.servant->release();
  waiting.join();
  running.join();
  calling.join();
  CHECK(answered);
}

TEST_CASE("a local caller waits at a holding POA manager no longer than a call may take") {
  ProbeServer server({"-ORBTimeoutRequest", "20ms"});
  server.orb.root()->the_POAManager()->hold_requests(true);
  try {
    server.reference->ping();
    FAIL("no exception");
  } catch (const CORBA::TIMEOUT& late) {
    CHECK(late.completed() == CORBA::COMPLETED_NO);
  }
  CHECK(server.servant->pings == 0);
}

TEST_CASE("calls of a forked process raise BAD_INV_ORDER, collocated ones too") {
  ProbeServer server;
  TestOrb client;
  const auto remote = probe_of(client, server.ior());
  for (const auto& probe : {server.reference, remote}) {
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) try {
        probe->ping();
        ::_exit(1);
      } catch (const CORBA::BAD_INV_ORDER& order) {
        ::_exit(order.minor() == corelane::minor::forked ? 0 : 2);
      } catch (...) {
        ::_exit(3);
      }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(status == 0);
  }
}

TEST_CASE("references of a destroyed ORB raise BAD_INV_ORDER") {
  ProbeServer server;
  CORBA::object_reference<Probing::Probe> probe;
  {
    TestOrb client;
    probe = probe_of(client, server.ior());
    probe->ping();
  }
  CHECK_THROWS_AS(probe->ping(), CORBA::BAD_INV_ORDER);
}
