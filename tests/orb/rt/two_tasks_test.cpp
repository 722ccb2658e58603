// Tests two contracts for one operation at the same time.
#include <thread>

#include "orb/rt/rt.h"
#include "tests/support/modes.h"
#include "tests/support/probe_servant.h"

using namespace corelane;
using namespace corelane::testing;
using namespace std::chrono_literals;

namespace {

struct Client {
  ProbeServer server{in_each_mode()};
  TestOrb orb;

  rt::Task admit(const CORBA::object_reference<Probing::Probe>& probe) {
    auto task = rt::admit(probe, {.operation = "add", .contract = make_contract(1ms, 10us)});
    REQUIRE(task);
    return std::move(*task);
  }
  // Returns the number of jobs of a task that has left, so that none is still to be counted.
  std::uint64_t jobs_of(TaskId id) {
    for (;;) {  // bound: the server, which lets the task leave
      for (const auto& task : rt::report(*server.orb.orb).tasks)
        if (task.task == id && task.gone) return task.jobs;
      std::this_thread::yield();
    }
  }
};

}  // namespace

TEST_CASE("the newest of two tasks of one operation gets the calls, and the one before gets them when it has gone") {
  Client client;
  const auto probe = probe_of(client.orb, client.server.ior());
  rt::Task first = client.admit(probe);
  rt::Task second = client.admit(probe);
  const TaskId ids[] = {first.id(), second.id()};
  CHECK(ids[0] != ids[1]);
  CHECK(probe->add(1, 2) == 3);
  CHECK(probe->add(1, 2) == 3);
  second.depart();
  CHECK(probe->add(1, 2) == 3);
  first.depart();
  CHECK(client.jobs_of(ids[1]) == 2);
  CHECK(client.jobs_of(ids[0]) == 1);
}
