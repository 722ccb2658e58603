// Tests the spare threads for tasks, as the kernel sees them.
#include "orb/dispatch/cores/task_threads.h"

#include <sched.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "orb/dispatch/cores/core_pool.h"
#include "orb/dispatch/cores/task_worker.h"
#include "orb/os/machine/topology.h"

using namespace corelane;
using namespace corelane::dispatch;
using namespace std::chrono_literals;

namespace {

constexpr CoreId nowhere{8191};

// Returns the only spare thread. Bound: that thread's start, at which it gets its name.
pid_t spare_of_this_process() {
  for (;;)
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) {
      std::string name;
      if (std::ifstream(entry.path() / "comm") >> name && name == "cl-spare") return std::stoi(entry.path().filename());
    }
}

class OneSpare {
 public:
  OneSpare() { REQUIRE(threads.refill()); }

  std::unique_ptr<WorkerThread> take(ThreadPlacement placement) {
    worker->placer().placement(placement);
    return threads.take("task", worker);
  }

 private:
  os::Parker manager_;
  NoteInbox inbox_{4, manager_};
  CorePool pool_{CoreId{0}, 4, inbox_};

 public:
  const WorkerPtr worker =
      std::make_shared<TaskWorker>(TaskId{1}, Contract{.period = 1s, .deadline = 1s, .budget = 1us}, pool_, Clock{});
  TaskThreads threads{true, 64 * 1024, 1};
};

}  // namespace

TEST_CASE("a spare that cannot be bound to a core goes back as it was, and is bound where it can be") {
  OneSpare one;
  const pid_t spare = spare_of_this_process();
  for (int i = 0; i < 2; ++i) {  // a refused placement is tried again, not taken for done
    CHECK_FALSE(one.take({.core = nowhere, .native = 10}));
    CHECK(one.threads.spares() == 1);
    CHECK(sched_getscheduler(spare) == SCHED_OTHER);
  }
  const CoreId core = os::Topology::detect().value().cores().front().core;
  const auto thread = one.take({.core = core});
  REQUIRE(thread);
  cpu_set_t mask;
  REQUIRE(sched_getaffinity(spare, sizeof(mask), &mask) == 0);
  CHECK(CPU_COUNT(&mask) == 1);
  CHECK(CPU_ISSET(static_cast<std::size_t>(core.value), &mask));
  one.worker->retire();
}
