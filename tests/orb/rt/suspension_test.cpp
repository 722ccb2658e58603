// A servant that calls another object, or says that it waits, is suspended meanwhile.
#include "orb/rt/resource.h"
#include "orb/rt/rt.h"
#include "tests/support/modes.h"
#include "tests/support/probe_servant.h"

using namespace corelane;
using namespace corelane::testing;
using namespace std::chrono_literals;

namespace {

// add() asks somebody else on the way.
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
  // What add() through the first server comes to as one job; whom it asks may be in the process or behind a socket.
  dispatch::TaskReport run(Duration suspension) {
    Contract contract = make_contract(120s, 30s);
    contract.suspension = suspension;
    auto task = rt::admit(probe, {.operation = "add", .contract = contract});
    REQUIRE(task);
    CHECK(probe->add(20, 22) == 42);
    const TaskId id = task->id();
    task->depart();
    // Bound: the server's threads; the last of a job is counted behind its reply.
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
