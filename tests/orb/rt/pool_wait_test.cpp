// Threads that wait by spinning (pool.wait) do what those do that sleep.
#include <catch2/catch.hpp>

#include "orb/rt/rt.h"
#include "tests/support/probe_servant.h"

using namespace corelane;
using namespace corelane::testing;
using namespace std::chrono_literals;

TEST_CASE("a task's calls are answered in each mode however its threads wait") {
  const std::string mode = GENERATE(as<std::string>{}, "manager", "direct", "leader-followers");
  const std::string wait = GENERATE(as<std::string>{}, "park", "spin-then-park", "adaptive", "spin");
  ProbeServer server({"-ORBDispatchMode", mode, "-ORBPoolWait", wait, "-ORBPoolSpin", "20us"});
  TestOrb client;
  const auto probe = probe_of(client, server.ior());
  auto task = rt::admit(probe, {.operation = "add", .contract = make_contract(100us, 5us)});
  REQUIRE(task);
  for (int i = 0; i < 50; ++i) CHECK(probe->add(i, 1) == i + 1);
  CHECK(probe->echo("without a contract") == "without a contract");
}

TEST_CASE("settings of pool.wait that cannot be are refused with what can") {
  CHECK_THROWS_WITH(TestOrb({"-ORBPoolWait", "yield"}), Catch::Contains("park, spin-then-park, adaptive or spin"));
  CHECK_THROWS_WITH(TestOrb({"-ORBPoolSpin", "1s"}), Catch::Contains("a duration up to 10ms"));
}
