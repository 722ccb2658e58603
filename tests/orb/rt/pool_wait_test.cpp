// Tests that threads that wait by spinning (pool.wait) do the same as threads that sleep.
#include <catch2/catch.hpp>
#include <ctime>
#include <thread>

#include "orb/os/clock.h"
#include "orb/rt/rt.h"
#include "tests/support/modes.h"
#include "tests/support/probe_servant.h"

using namespace corelane;
using namespace corelane::testing;
using namespace std::chrono_literals;

namespace {

// Waits until this process has executed for that long. Gives up after a while, if the process had no core.
void let_spin(Duration computed) {
  const std::clock_t until = std::clock() + static_cast<std::clock_t>(computed / 1us * CLOCKS_PER_SEC / 1000000);
  const Time patience = os::now() + 20 * computed;
  while (std::clock() < until && os::now() < patience)
    std::this_thread::sleep_for(5ms);  // sleep: the execution of this thread would count, too
}

}  // namespace

TEST_CASE("a task's calls are answered in each mode however its threads wait") {
  const std::string mode = GENERATE(every_mode());
  const std::string wait = GENERATE(as<std::string>{}, "park", "spin-then-park", "adaptive", "spin");
  ProbeServer server({"-ORBDispatchMode", mode, "-ORBPoolWait", wait, "-ORBPoolSpin", "20us"});
  TestOrb client;
  const auto probe = probe_of(client, server.ior());
  auto task = rt::admit(probe, {.operation = "add", .contract = make_contract(100us, 5us)});
  REQUIRE(task);
  for (int i = 0; i < 50; ++i) CHECK(probe->add(i, 1) == i + 1);
  CHECK(probe->echo("without a contract") == "without a contract");
}

TEST_CASE("a job is not charged for what its thread spun without end before it") {
  const std::string mode = GENERATE(as<std::string>{}, "manager", "direct");
  ProbeServer server({"-ORBDispatchMode", mode, "-ORBPoolWait", "spin", "-ORBPoolSpin", "20us"});
  TestOrb client;
  const auto probe = probe_of(client, server.ior());
  auto task = rt::admit(probe, {.operation = "add", .contract = make_contract(200ms, 100ms)});
  REQUIRE(task);
  for (int i = 0; i < 3; ++i, let_spin(150ms)) CHECK(probe->add(i, 1) == i + 1);
  const auto count = [&](std::uint64_t dispatch::TaskReport::*counter) {
    for (const auto& report : rt::report(*server.orb.orb).tasks)
      if (report.task == task->id()) return report.*counter;
    return std::uint64_t{0};
  };
  while (count(&dispatch::TaskReport::jobs) < 3)
    std::this_thread::yield();  // bound: the task's thread, after its reply
  CHECK(count(&dispatch::TaskReport::overruns) == 0);
}

TEST_CASE("settings of pool.wait that cannot be are refused with what can") {
  CHECK_THROWS_WITH(TestOrb({"-ORBPoolWait", "yield"}), Catch::Contains("park, spin-then-park, adaptive or spin"));
  CHECK_THROWS_WITH(TestOrb({"-ORBPoolSpin", "1s"}), Catch::Contains("a duration up to 10ms"));
}
