// Tests many callers on one connection, and connections that end while calls are under way.
#include <atomic>
#include <iostream>
#include <thread>
#include <vector>

#include "orb/base/minor.h"
#include "tests/support/in_time.h"
#include "tests/support/probe_servant.h"

using namespace corelane::testing;

namespace {

// Calls until a system exception comes, and returns its error.
corelane::Error call_until_it_fails(const CORBA::object_reference<Probing::Probe>& probe) {
  try {
    for (;;) probe->ping();  // bound: the server ends
  } catch (const CORBA::SystemException& exception) {
    return exception.error();
  }
}

}  // namespace

TEST_CASE("calls that time out do not disturb the others on their connection") {
  ProbeServer server({"-ORBBestEffortThreads", "8"});
  TestOrb client({"-ORBTimeoutRequest", "300ms", "-ORBClientConnections", "1"});
  const auto probe = probe_of(client, server.ior());
  // None of the good calls may be lost.
  const auto add = [&](int a, int b) { return in_time([&] { return probe->add(a, b); }); };
  std::atomic<int> timeouts{0}, sums{0};
  {
    std::vector<std::jthread> callers;
    for (int i = 0; i < 4; ++i)
      callers.emplace_back([&] {
        try {
          probe->block();
        } catch (const CORBA::TIMEOUT&) {
          ++timeouts;
        }
      });
    for (int t = 0; t < 4; ++t)
      callers.emplace_back([&, t] {
        for (int i = 0; i < 300; ++i) sums += add(t, i) == t + i;
      });
  }
  CHECK(timeouts == 4);
  CHECK(sums == 4 * 300);
  server.servant->release();
  CHECK(add(1, 2) == 3);
}

TEST_CASE("a client ORB that is destroyed fails the calls under way") {
  const std::string connections = GENERATE("1", "2", "8");
  ProbeServer server({"-ORBBestEffortThreads", "4"});
  TestOrb client({"-ORBClientConnections", connections});
  const auto probe = probe_of(client, server.ior());
  std::atomic<int> failed{0};
  {
    std::vector<std::jthread> callers;
    for (int i = 0; i < 3; ++i)
      callers.emplace_back([&] {
        try {
          probe->block();
        } catch (const CORBA::SystemException&) {
          ++failed;
        }
      });
    server.servant->wait_until_blocked();
    client->destroy();
  }
  CHECK(failed == 3);
}

TEST_CASE("a server that is destroyed under traffic leaves no caller hanging") {
  auto server = std::make_unique<ProbeServer>();
  const std::string ior = server->ior();
  TestOrb clients[2] = {TestOrb({"-ORBClientConnections", "1"}), TestOrb()};
  std::atomic<int> answered{0};
  {
    std::vector<std::jthread> callers;
    for (TestOrb& client : clients)
      for (int i = 0; i < 3; ++i)
        callers.emplace_back([&answered, probe = probe_of(client, ior)] {
          const corelane::Error error = call_until_it_fails(probe);
          answered += error.kind == corelane::ErrorKind::transient || error.kind == corelane::ErrorKind::comm_failure;
        });
    while (server->servant->pings < 50) std::this_thread::yield();
    server.reset();
  }
  CHECK(answered == 6);
}

TEST_CASE("a connection with too many requests under way is told so") {
  ProbeServer server({"-ORBLimitsRequests", "1"});
  TestOrb client({"-ORBClientConnections", "1"});
  const auto probe = probe_of(client, server.ior());
  std::jthread waiting([&] { probe->block(); });
  server.servant->wait_until_blocked();
  try {
    probe->ping();
    FAIL("no exception");
  } catch (const CORBA::TRANSIENT& busy) {
    CHECK(busy.minor() == corelane::minor::queue_full);
    CHECK(busy.completed() == CORBA::COMPLETED_NO);
  }
  server.servant->release();
}

TEST_CASE("requests beyond those of a connection that may run at one time wait, and all are answered") {
  ProbeServer server({"-ORBBestEffortParallel", "1", "-ORBDispatchQueueCapacity", "1"});
  TestOrb client;
  const auto probe = probe_of(client, server.ior());
  std::jthread running([&] { probe->block(); });
  server.servant->wait_until_blocked();
  {
    std::vector<std::jthread> callers;
    for (int i = 0; i < 4; ++i) callers.emplace_back([&] { probe->ping(); });
    server.servant->release();
  }
  CHECK(server.servant->pings == 4);
}

TEST_CASE("a server may listen on IPv6") {
  std::unique_ptr<ProbeServer> server;
  try {
    server = std::make_unique<ProbeServer>(std::vector<std::string>{"-ORBEndpointListen", "[::1]:0"});
  } catch (const CORBA::SystemException&) {
    std::cout << "SKIPPED: this machine has no IPv6 loopback\n";
    return;
  }
  TestOrb client;
  CHECK(probe_of(client, server->ior())->add(1, 2) == 3);
}

TEST_CASE("a servant may call back the client that calls it") {
  struct Calling : ProbeServant {
    CORBA::object_reference<Probing::Probe> pass(CORBA::object_reference<Probing::Probe> other) override {
      other->ping();
      return other;
    }
  };
  ProbeServer caller;
  TestOrb server;
  server.root()->the_POAManager()->activate();
  const auto servant = CORBA::make_reference<Calling>();
  const auto remote = probe_of(caller.orb, server->object_to_string(server.root()->servant_to_reference(servant)));
  remote->pass(caller.reference);
  CHECK(caller.servant->pings == 1);
}
