// Tests that a servant is suspended while it calls another object, and while it says that it waits.
#include "orb/rt/resource.h"
#include "orb/rt/rt.h"
#include "tests/support/modes.h"
#include "tests/support/probe_servant.h"

using namespace corelane;
using namespace corelane::testing;
using namespace std::chrono_literals;

namespace {

// A servant whose add() calls another object, or declares a suspension.
class AskingServant final : public ProbeServant {
 public:
  std::int32_t add(std::int32_t a, std::int32_t b) override {
    if (other) return other->paced(a) + b;
    const rt::Suspension asleep;
    return a + b;
  }
  CORBA::object_reference<Probing::Probe> other;
};

struct Chain {
  // Returns the report of a task with one job, which called add() of the first server. The object that add() calls may
  // be in this process or behind a socket.
  dispatch::TaskReport run(Duration suspension) {
    Contract contract = make_contract(120s, 30s);
    contract.suspension = suspension;
    auto task = rt::admit(probe, {.operation = "add", .contract = contract});
    REQUIRE(task);
    CHECK(probe->add(20, 22) == 42);
    const TaskId id = task->id();
    task->depart();
    // Bound: the server's threads. They count the end of a job after its reply.
    for (;;)
      for (const auto& report : rt::report(*first.orb.orb).tasks)
        if (report.task == id && report.gone) return report;
  }

  ProbeServer first{in_each_mode({"-ORBDispatchAdmission", "off"})};
  CORBA::servant_reference<AskingServant> servant = CORBA::make_reference<AskingServant>();
  CORBA::object_reference<CORBA::Object> reference = first.orb.root()->servant_to_reference(servant);
  TestOrb client;
  CORBA::object_reference<Probing::Probe> probe =
      IDL::traits<Probing::Probe>::narrow(client->string_to_object(first.orb->object_to_string(reference)));
};

}  // namespace

TEST_CASE("a servant that waits for another object is suspended and not overrun") {
  Chain chain;
  TestOrb others;
  if (GENERATE(false, true)) chain.servant->other = probe_of(others, chain.first.ior());
  const auto report = chain.run(60s);
  CHECK(report.jobs == 1);
  CHECK(report.oversleeps == 0);
}

TEST_CASE("a suspension that the contract does not declare is counted") {
  Chain chain;
  TestOrb others;
  if (GENERATE(false, true)) chain.servant->other = probe_of(others, chain.first.ior());
  const auto report = chain.run(0s);
  CHECK(report.jobs == 1);
  CHECK(report.oversleeps == 1);
  CHECK(report.overruns == 0);
}
