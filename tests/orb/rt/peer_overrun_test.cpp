// Tests limits.peer_overrun: which policy a client gets instead of the one it asks for, and how it learns of that.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "orb/rt/rt.h"
#include "tests/support/modes.h"
#include "tests/support/probe_servant.h"
#include "tests/support/system/captured_errors.h"

namespace peer_overrun_test {

using namespace corelane;
using namespace corelane::testing;
using namespace std::chrono_literals;

namespace {

rt::TaskSpec asking_for(OverrunPolicy policy) {
  Contract contract = make_contract(10ms, 1ms);
  contract.on_overrun = policy;
  return {.operation = "add", .contract = contract};
}

struct Served {
  explicit Served(const std::vector<std::string>& options) : server(options) {}

  // Returns the policy that the client is told. Checks that the server's own report says the same.
  OverrunPolicy granted(OverrunPolicy asked) {
    const auto task = rt::admit(probe, asking_for(asked));
    REQUIRE(task);
    for (const dispatch::TaskReport& row : rt::report(*server.orb.orb).tasks)
      if (row.task == task->id()) CHECK(row.contract == task->contract());
    return task->contract().on_overrun;
  }

  ProbeServer server;
  TestOrb client;
  CORBA::object_reference<Probing::Probe> probe = probe_of(client, server.ior());
};

}  // namespace

TEST_CASE("by default a contract that comes over the network is enforced whatever it says") {
  Served served({});
  CHECK(served.granted(OverrunPolicy::report) == OverrunPolicy::demote);
}

TEST_CASE("a peer may ask for a stricter policy than it has to have") {
  Served served({});
  CHECK(served.granted(OverrunPolicy::cancel) == OverrunPolicy::cancel);
}

TEST_CASE("by default a process of the server's own user chooses its policy itself") {
  Served served({"-ORBEndpointListen", GENERATE(as<std::string>{}, "unix:", "channel:")});
  CHECK(served.granted(OverrunPolicy::report) == OverrunPolicy::report);
}

TEST_CASE("a policy that is named is the least for every other process") {
  const std::string listen = GENERATE(as<std::string>{}, "127.0.0.1:0", "unix:");
  const auto [name, least] = GENERATE(std::pair<std::string, OverrunPolicy>{"report", OverrunPolicy::report},
                                      std::pair<std::string, OverrunPolicy>{"demote", OverrunPolicy::demote},
                                      std::pair<std::string, OverrunPolicy>{"cancel", OverrunPolicy::cancel});
  Served served({"-ORBLimitsPeerOverrun", name, "-ORBEndpointListen", listen});
  CHECK(served.granted(OverrunPolicy::report) == least);
}

TEST_CASE("this process chooses the policy of its own contracts itself") {
  ProbeServer server({"-ORBLimitsPeerOverrun", "cancel"});
  const auto task = rt::admit(server.reference, asking_for(OverrunPolicy::report));
  REQUIRE(task);
  CHECK(task->contract().on_overrun == OverrunPolicy::report);
}

TEST_CASE("a server that does not watch budgets makes no contract stricter than can be kept") {
  if (!can_follow()) return;
  Served served({"-ORBDispatchMode", "leader-followers", "-ORBLimitsPeerOverrun", "cancel"});
  CHECK(served.granted(OverrunPolicy::report) == OverrunPolicy::report);
}

TEST_CASE("a client's log says that its server is stricter than the contract") {
  Served served({});
  CapturedErrors said;
  (void)served.granted(OverrunPolicy::report);
  CHECK_THAT(said.text(), Catch::Contains("the contract stricter: on_overrun is demote instead of report"));
}

}  // namespace peer_overrun_test
