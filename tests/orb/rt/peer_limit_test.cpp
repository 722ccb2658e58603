// limits.peer_utilization over the wire: of a peer's connections together.
#include <thread>

#include "orb/rt/rt.h"
#include "tests/support/probe_servant.h"

namespace peer_limit_test {

using namespace corelane;
using namespace corelane::testing;
using namespace std::chrono_literals;

namespace {

// An ORB of its own has connections of its own.
struct Client {
  explicit Client(ProbeServer& server) : probe(probe_of(orb, server.ior())) {}
  Expected<rt::Task, rt::Refusal> admit() {
    return rt::admit(probe, {.operation = "add", .contract = make_contract(10ms, 1ms)});
  }
  TestOrb orb;
  CORBA::object_reference<Probing::Probe> probe;
};

}  // namespace

TEST_CASE("a peer with two connections holds no more than one with a single one") {
  ProbeServer server({"-ORBLimitsPeerUtilization", "150000"});
  Client first(server), second(server);
  const auto task = first.admit();
  REQUIRE(task);
  const auto refused = second.admit();
  REQUIRE_FALSE(refused);
  CHECK(refused.error().reason.code == sched::RefusalCode::peer_limit);
}

TEST_CASE("a peer gets half of limits.tasks by default, and what is left is for others") {
  ProbeServer server({"-ORBLimitsTasks", "4"});
  Client first(server), second(server);
  const auto one = first.admit(), two = second.admit();
  REQUIRE(one);
  REQUIRE(two);
  const auto refused = second.admit();
  REQUIRE_FALSE(refused);
  CHECK(refused.error().reason.code == sched::RefusalCode::peer_limit);
  CHECK_THAT(refused.error().text, Catch::Contains("limits.peer_tasks is 2"));
  CHECK(rt::admit(server.reference, {.operation = "add", .contract = make_contract(10ms, 1ms)}));
}

TEST_CASE("what a peer held over a connection is free once that is gone") {
  ProbeServer server({"-ORBLimitsPeerUtilization", "150000"});
  Client second(server);
  {
    Client first(server);
    REQUIRE(first.admit());
  }
  while (!second.admit()) std::this_thread::yield();  // bound: the server, which finds the end of the connection
  SUCCEED();
}

}  // namespace peer_limit_test
