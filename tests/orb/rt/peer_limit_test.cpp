// Tests limits.peer_utilization over the wire, which limits the tasks on all connections of a peer together.
#include <algorithm>
#include <thread>

#include "orb/rt/rt.h"
#include "tests/support/probe_servant.h"

namespace peer_limit_test {

using namespace corelane;
using namespace corelane::testing;
using namespace std::chrono_literals;

namespace {

// A client with its own ORB, so it has its own connections.
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

TEST_CASE("capacity that a peer held over a connection is free once that is gone") {
  ProbeServer server({"-ORBLimitsPeerUtilization", "150000"});
  Client second(server);
  {
    Client first(server);
    REQUIRE(first.admit());
  }
  while (!second.admit()) std::this_thread::yield();  // bound: the server, which notices the end of the connection
  SUCCEED();
}

// With one core, half of the capacity is 47.5 %.
TEST_CASE("by default a peer over the network holds half of the cores at most, and this user's processes all of them") {
  const std::string listen = GENERATE(as<std::string>{}, "127.0.0.1:0", "unix:", "channel:");
  const bool is_stranger = listen == "127.0.0.1:0";
  ProbeServer server({"-ORBEndpointListen", listen, "-ORBPoolCores", "0"});
  TestOrb orb, other;
  const auto probe = probe_of(orb, server.ior()), same = probe_of(other, server.ior());
  const rt::TaskSpec quarter{.operation = "add", .contract = make_contract(100ms, 24ms)};
  const auto first = rt::admit(probe, quarter);
  REQUIRE(first);
  const auto second = rt::admit(same, quarter);
  CHECK(second.has_value() != is_stranger);
  if (!is_stranger) return;
  CHECK(second.error().reason.code == sched::RefusalCode::peer_limit);
  CHECK_THAT(second.error().text, Catch::Contains("24.0 % of a core") && Catch::Contains("47.5 %") &&
                                      Catch::Contains("limits.peer_utilization"));
  CHECK(rt::admit(server.reference, quarter));  // this process itself
}

TEST_CASE("a peer over the network may hold as much as is set, or all with 0") {
  const auto [limit, fits] =
      GENERATE(std::pair<std::string, bool>{"400000", false}, std::pair<std::string, bool>{"600000", true},
               std::pair<std::string, bool>{"0", true});
  ProbeServer server({"-ORBPoolCores", "0", "-ORBLimitsPeerUtilization", limit});
  TestOrb orb;
  CHECK(rt::admit(probe_of(orb, server.ior()), {.operation = "add", .contract = make_contract(100ms, 50ms)})
            .has_value() == fits);
}

TEST_CASE("a client whose task ended since it did not use it is told so by its next call, and may ask again") {
  const std::string mode = GENERATE(as<std::string>{}, "manager", "direct");
  const std::string listen = GENERATE(as<std::string>{}, "127.0.0.1:0", "unix:", "channel:");
  ProbeServer server({"-ORBTimeoutIdleTasks", "1s", "-ORBDispatchMode", mode, "-ORBEndpointListen", listen});
  Client client(server);
  const auto task = client.admit();
  REQUIRE(task);
  const auto is_gone = [&] {
    const auto report = rt::report(*server.orb.orb);
    return std::ranges::any_of(report.tasks, [&](const auto& row) { return row.task == task->id() && row.gone; });
  };
  while (!is_gone()) std::this_thread::sleep_for(10ms);  // sleep: the lease ends only by time
  try {
    client.probe->add(1, 2);
    FAIL("the call ran");
  } catch (const CORBA::NO_RESOURCES& told) {
    REQUIRE(told.refusal());
    CHECK(told.refusal()->code == sched::RefusalCode::unused);
    CHECK_THAT(std::string(told.detail()), Catch::Contains("timeout.idle_tasks"));
  }
  CHECK(client.admit());
}

}  // namespace peer_limit_test
