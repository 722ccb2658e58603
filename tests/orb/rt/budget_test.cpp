// Tests a contract that cancels jobs that exceed their budget, from the client's call to the servant and back.
#include <atomic>

#include "orb/base/minor.h"
#include "orb/rt/current.h"
#include "orb/rt/rt.h"
#include "tests/support/in_time.h"
#include "tests/support/modes.h"
#include "tests/support/probe_servant.h"

using namespace corelane;
using namespace corelane::testing;
using namespace std::chrono_literals;

namespace {

// A servant whose add() runs until it is told to stop, unless `a` is 0.
class Endless : public ProbeServant {
 public:
  std::int32_t add(std::int32_t a, std::int32_t b) override {
    seen = rt::current();
    if (a == 0) return b;
    while (!rt::current().stop.stop_requested()) ++turns;  // bound: the contract's budget
    ++stopped;
    return a + b;
  }
  rt::Current seen;
  std::atomic<int> stopped{0};
  std::uint64_t turns = 0;
};

struct Served {
  ProbeServer server{in_each_mode()};
  CORBA::servant_reference<Endless> endless = CORBA::make_reference<Endless>();
  TestOrb client;
  CORBA::object_reference<Probing::Probe> probe =
      probe_of(client, server.orb->object_to_string(server.orb.root()->servant_to_reference(endless)));
};

Contract cancelling() {
  Contract contract = make_contract(20ms, 2ms);
  contract.on_overrun = OverrunPolicy::cancel;
  return contract;
}

}  // namespace

TEST_CASE("a job that overruns a contract that cancels is TIMEOUT for the client, and its servant is told to stop") {
  Served served;
  const auto task = rt::admit(served.probe, {.operation = "add", .contract = cancelling()});
  REQUIRE(task);
  try {
    served.probe->add(1, 2);
    FAIL("no exception");
  } catch (const CORBA::TIMEOUT& late) {
    CHECK(late.completed() == CORBA::COMPLETED_MAYBE);
    CHECK(late.minor() == minor::budget_spent);
  }
  // Nothing was sent for the late result. The machine may stop this process inside a job, which then uses up its
  // budget. So the next call may need several attempts.
  CHECK(in_time([&] { return served.probe->add(0, 7); }) == 7);
  CHECK(served.endless->stopped == 1);
}

TEST_CASE("a servant may ask which job it runs in, and in best effort it is none") {
  Served served;
  CHECK(served.probe->add(0, 1) == 1);
  CHECK_FALSE(served.endless->seen);
  CHECK(served.endless->seen.slack() == Duration::max());
  const auto task = rt::admit(served.probe, {.operation = "add", .contract = cancelling()});
  REQUIRE(task);
  CHECK(in_time([&] { return served.probe->add(0, 2); }) == 2);
  CHECK(served.endless->seen.task == task->id());
  CHECK(served.endless->seen.budget == 2ms);
  CHECK(served.endless->seen.deadline == served.endless->seen.release + 20ms);
  CHECK_FALSE(rt::current());
}
