// Tests a task's own connection on a core scheduled by deadlines, where the task's thread may not read it. Also tests
// it after the task has moved to a core scheduled by priorities.
#include <fstream>
#include <iostream>
#include <thread>

#include "orb/core/client/reference.h"
#include "orb/core/client/task_binding.h"
#include "orb/os/machine/cpu_mask.h"
#include "orb/rt/rt.h"
#include "tests/support/probe_servant.h"
#include "tests/support/quiet.h"
#include "tests/support/system/temp_directory.h"

namespace lent_connection_test {

using namespace corelane;
using namespace corelane::testing;
using namespace std::chrono_literals;

namespace {

std::vector<CoreId> first_cores() {
  std::vector<CoreId> cores;
  const os::CpuMask mine = os::process_affinity();
  for (std::int16_t core = 0; core < 1024 && cores.size() < 2; ++core)
    if (mine.contains(CoreId{core})) cores.push_back(CoreId{core});
  return cores;
}

std::string text_of(CoreId core) { return std::to_string(core.value); }

// A server with a core scheduled by priorities and one scheduled by deadlines.
struct MixedServer {
  MixedServer(const std::string& directory, CoreId by_priority, CoreId by_deadline)
      : server({"-ORBDispatchMode", "direct", "-ORBRuntimeLedger", "on", "-ORBRuntimeDirectory", directory,
                "-ORBPoolCores", text_of(by_priority) + "," + text_of(by_deadline), "-ORBPoolDeadlineCores",
                text_of(by_deadline)}) {}
  dispatch::TaskReport report(TaskId task) {
    for (const auto& report : rt::report(*server.orb.orb).tasks)
      if (report.task == task) return report;
    FAIL("no such task");
    return {};
  }
  ProbeServer server;
};

// A client with a task on the given core.
struct Caller {
  Caller(MixedServer& served, CoreId core) : probe(probe_of(orb, served.server.ior())) {
    // Bound: the server gives the cores to tasks in turn.
    for (; tasks.empty() || served.report(tasks.back().id()).core != core;) {
      auto task = rt::admit(probe, {.operation = "add", .contract = make_contract(2ms, 50us)});
      REQUIRE(task);
      tasks.push_back(std::move(*task));
    }
  }
  // Returns whether the calls use the task's own connection, as far as the client knows.
  bool has_own() {
    const auto binding = probe->_reference()->binding_of("add");
    return binding->connection() != binding->connection(true);
  }
  void lose_own() {
    probe->_reference()->binding_of("add")->connection()->close();
    CHECK(probe->add(1, 2) == 3);
  }

  TestOrb orb;
  CORBA::object_reference<Probing::Probe> probe;
  std::vector<rt::Task> tasks;
};

}  // namespace

TEST_CASE("a task keeps its own connection on a core by deadlines, and reads it once it has left that") {
  const auto cores = first_cores();
  if (cores.size() < 2) {
    std::cout << "SKIPPED: one core is usable here, two are needed\n";
    return;
  }
  const Quiet quiet;
  const TempDirectory directory;
  MixedServer served(directory.path(), cores[0], cores[1]);
  Caller caller(served, cores[1]);
  const TaskId task = caller.tasks.back().id();
  for (int i = 0; i < 20; ++i) CHECK(caller.probe->add(i, 1) == i + 1);
  CHECK_FALSE(served.report(task).dedicated_connection);
  CHECK(caller.has_own());
  std::ofstream(directory / "revoked") << text_of(cores[1]) << '\n';
  // Bound: the server's housekeeper, which checks whether a core was revoked.
  for (int i = 0; !served.report(task).dedicated_connection; ++i) CHECK(caller.probe->add(i, 2) == i + 2);
  CHECK(served.report(task).core == cores[0]);
  for (int i = 0; i < 20; ++i) CHECK(caller.probe->add(i, 3) == i + 3);
  CHECK(caller.has_own());
}

TEST_CASE("a task on a core by deadlines that loses its own connection is given another") {
  const auto cores = first_cores();
  if (cores.size() < 2) {
    std::cout << "SKIPPED: one core is usable here, two are needed\n";
    return;
  }
  const Quiet quiet;
  const TempDirectory directory;
  MixedServer served(directory.path(), cores[0], cores[1]);
  Caller caller(served, cores[1]);
  caller.lose_own();
  // Bound: the pause between two attempts.
  for (int i = 0; !caller.has_own(); ++i) {
    CHECK(caller.probe->add(i, 1) == i + 1);
    std::this_thread::yield();
  }
  for (int i = 0; i < 20; ++i) CHECK(caller.probe->add(i, 2) == i + 2);
  CHECK(caller.has_own());
}

}  // namespace lent_connection_test
