// Tests a servant that starts programs and threads outside its task.
#include "orb/rt/ordinary_thread.h"

#include <sched.h>

#include <cstdio>
#include <stdexcept>
#include <string>

#include "orb/os/machine/cpu_mask.h"
#include "orb/rt/rt.h"
#include "tests/support/modes.h"
#include "tests/support/probe_servant.h"

namespace ordinary_thread_test {

using namespace corelane;
using namespace corelane::testing;
using namespace std::chrono_literals;

namespace {

int cores_of_this_thread() {
  os::CpuMask mask;
  sched_getaffinity(0, os::CpuMask::native_size, mask.native());
  return CPU_COUNT_S(os::CpuMask::native_size, mask.native());
}

int all_cores() { return CPU_COUNT_S(os::CpuMask::native_size, os::process_affinity().native()); }

std::string output_of(FILE* pipe) {
  char text[64] = {};
  const bool got = pipe != nullptr && fgets(text, sizeof text, pipe) != nullptr;
  if (pipe != nullptr) pclose(pipe);
  return got ? text : "";
}

// A servant whose add() looks at what it starts outside its task.
class OutwardServant final : public ProbeServant {
 public:
  std::int32_t add(std::int32_t a, std::int32_t b) override {
    cores_outside = rt::on_ordinary_thread([] { return cores_of_this_thread(); });
    policy_outside = rt::on_ordinary_thread([] { return sched_getscheduler(0); });
    processors = output_of(rt::on_ordinary_thread([] { return popen("nproc", "re"); }));
    return a + b;
  }
  int cores_outside = 0;
  int policy_outside = -1;
  std::string processors;
};

}  // namespace

TEST_CASE("a servant's job starts a program outside its task, and is suspended meanwhile") {
  ProbeServer server{in_each_mode({"-ORBDispatchAdmission", "off"})};
  TestOrb client;
  const auto servant = CORBA::make_reference<OutwardServant>();
  const CORBA::object_reference<CORBA::Object> reference = server.orb.root()->servant_to_reference(servant);
  const auto probe =
      IDL::traits<Probing::Probe>::narrow(client->string_to_object(server.orb->object_to_string(reference)));
  Contract contract = make_contract(120s, 30s);
  contract.suspension = 60s;
  auto task = rt::admit(probe, {.operation = "add", .contract = contract});
  REQUIRE(task);
  CHECK(probe->add(20, 22) == 42);
  CHECK(servant->cores_outside == all_cores());
  CHECK(servant->policy_outside == SCHED_OTHER);
  CHECK(servant->processors == std::to_string(all_cores()) + "\n");
  const auto reports = rt::report(*server.orb.orb).tasks;
  for (const auto& report : reports) CHECK(report.oversleeps == 0);
}

TEST_CASE("an exception of a function on an ordinary thread reaches its caller") {
  CHECK_THROWS_AS(rt::on_ordinary_thread([] { throw std::out_of_range("far"); }), std::out_of_range);
  CHECK_THROWS_AS(rt::on_ordinary_thread([]() -> int { throw std::out_of_range("far"); }), std::out_of_range);
}

TEST_CASE("an ordinary thread returns what cannot be copied") {
  CHECK(*rt::on_ordinary_thread([] { return std::make_unique<int>(7); }) == 7);
}

}  // namespace ordinary_thread_test
