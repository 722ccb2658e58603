// Tests the task that callers without a task of their own share, when it was refused for a temporary reason.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <future>
#include <latch>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "orb/base/minor.h"
#include "orb/core/objects/object_dispatch.h"
#include "orb/dispatch/executive.h"
#include "orb/dispatch/manager/end_requests.h"
#include "orb/os/files/small_file.h"
#include "orb/os/machine/host.h"
#include "tests/support/probe_servant.h"
#include "tests/support/system/temp_directory.h"

using namespace corelane;
using namespace corelane::testing;

namespace {

struct Ignoring : dispatch::AdmissionHandler {
  void admitted(const dispatch::Admission&) noexcept override {}
  void refused(const sched::Refusal&) noexcept override {}
  void failed(Error) noexcept override {}
};

// Blocks the manager's thread in its answer.
struct Holding final : Ignoring {
  struct Latches {
    std::latch begun{1}, end{1};
  };
  explicit Holding(std::shared_ptr<Latches> latches) : latches_(std::move(latches)) {}
  void refused(const sched::Refusal&) noexcept override {
    latches_->begun.count_down();
    latches_->end.wait();
  }

 private:
  const std::shared_ptr<Latches> latches_;  // the thread that returns last from one of them frees them
};

struct Telling final : Ignoring {
  explicit Telling(std::shared_ptr<std::atomic<bool>> full) : full_(std::move(full)) {}
  void failed(Error) noexcept override { *full_ = true; }

 private:
  const std::shared_ptr<std::atomic<bool>> full_;
};

// Until destruction the manager answers no request, and its inbox is full.
class BusyManager {
 public:
  explicit BusyManager(dispatch::Executive& executive) {
    const dispatch::AdmissionRequest hopeless{.contract = {}, .owner = {}, .label = "hopeless"};
    executive.admit(hopeless, std::make_unique<Holding>(latches_));
    latches_->begun.wait();
    const auto full = std::make_shared<std::atomic<bool>>(false);
    while (!*full) executive.admit(hopeless, std::make_unique<Telling>(full));  // bound: the size of the inbox
  }
  ~BusyManager() { latches_->end.count_down(); }

 private:
  const std::shared_ptr<Holding::Latches> latches_ = std::make_shared<Holding::Latches>();
};

// Until destruction, tasks leave no room for one more task with `contract`.
class FullCores {
 public:
  FullCores(dispatch::Executive& executive, Contract contract) : executive_(executive) {
    const Duration least = contract.budget;
    for (contract.budget = contract.period / 4; contract.budget > least; contract.budget /= 2) fill(contract);
    contract.budget = least;
    fill(contract);
  }
  ~FullCores() {
    for (const TaskId task : tasks_) executive_.depart(task);
    while (is_any_present()) std::this_thread::yield();  // bound: the manager
  }

 private:
  struct Answer final : Ignoring {
    explicit Answer(std::promise<TaskId>& task) : task_(task) {}
    void admitted(const dispatch::Admission& admission) noexcept override { task_.set_value(admission.task); }
    void refused(const sched::Refusal&) noexcept override { task_.set_value(no_task); }

   private:
    std::promise<TaskId>& task_;
  };
  TaskId ask(const Contract& contract) {
    std::promise<TaskId> task;
    executive_.admit({.contract = contract, .owner = {}, .label = "hog"}, std::make_unique<Answer>(task));
    return task.get_future().get();
  }
  void fill(const Contract& contract) {
    for (TaskId task = ask(contract); task != no_task; task = ask(contract)) tasks_.push_back(task);
  }

  bool is_any_present() {
    const auto report = executive_.snapshot();
    return std::any_of(report.tasks.begin(), report.tasks.end(), [&](const dispatch::TaskReport& task) {
      return !task.gone && std::find(tasks_.begin(), tasks_.end(), task.task) != tasks_.end();
    });
  }

  dispatch::Executive& executive_;
  std::vector<TaskId> tasks_;
};

// A server, and a client. The server's Probe asks for its shared task when it is activated.
struct Sharing {
  explicit Sharing(std::vector<std::string> options = {}) : server(std::move(options)) {
    server.root()->the_POAManager()->activate();
  }
  void activate() { ior_ = server->object_to_string(server.root()->servant_to_reference(servant_)); }
  CORBA::object_reference<Probing::Probe> probe() { return probe_of(client, ior_); }
  dispatch::Executive& executive() { return *server->executive(); }
  // Returns the shared task of Probe::paced.
  TaskId task() {
    for (const auto& report : executive().snapshot().tasks)
      if (!report.gone && report.contract == Probing::detail::paced_contract) return report.task;
    return no_task;
  }

  TestOrb server, client;

 private:
  const CORBA::servant_reference<ProbeServant> servant_ = CORBA::make_reference<ProbeServant>();
  std::string ior_;
};

// Calls until an answer comes. Returns how many calls were refused temporarily.
int calls_turned_away(Probing::Probe& probe) {
  for (int count = 0;; ++count) {  // bound: the manager's answer
    try {
      if (probe.paced(3) == 3) return count;
    } catch (const CORBA::TRANSIENT& passing) {
      if (passing.minor() != minor::queue_full && passing.minor() != minor::admission_pending) throw;
    }
  }
}

}  // namespace

TEST_CASE("a shared task that was refused in passing is asked for again by the next caller") {
  Sharing shared;
  {
    const BusyManager busy(shared.executive());
    shared.activate();  // asks, and is refused
  }
  const auto probe = shared.probe();
  (void)calls_turned_away(*probe);  // calls are refused while the inbox is full; the call that asks again is answered
  CHECK(calls_turned_away(*probe) == 0);
}

TEST_CASE("a shared task for which there was no room is admitted when others have left") {
  Sharing shared;
  {
    const FullCores full(shared.executive(), Probing::detail::paced_contract);
    shared.activate();
    CHECK_THROWS_AS(shared.probe()->paced(3), CORBA::NO_RESOURCES);
  }
  const auto probe = shared.probe();
  const auto answered = [&] {
    try {
      return probe->paced(3) == 3;
    } catch (const CORBA::NO_RESOURCES&) {
      return false;
    }
  };
  while (!answered()) std::this_thread::yield();  // bound: a call asks again after a while
}

TEST_CASE("the first call that asks again for a shared task gets the new answer and no old figures") {
  Sharing shared;
  {
    const FullCores full(shared.executive(), Probing::detail::paced_contract);
    shared.activate();
  }
  const auto probe = shared.probe();
  // sleep: no call may ask again before
  std::this_thread::sleep_for(corelane::core::ActiveObject::ask_again_after);
  CHECK(probe->paced(3) == 3);
}

TEST_CASE("calls that a shared task's refusal turns away are counted") {
  Sharing shared;
  const FullCores full(shared.executive(), Probing::detail::paced_contract);
  shared.activate();
  const auto probe = shared.probe();
  const std::uint64_t before = shared.executive().snapshot().jobs_refused;
  for (int i = 0; i < 3; ++i) CHECK_THROWS_AS(probe->paced(3), CORBA::NO_RESOURCES);
  CHECK(shared.executive().snapshot().jobs_refused == before + 3);
}

TEST_CASE("a shared task that the operator ended is admitted anew at the next call") {
  const TempDirectory directory;
  Sharing shared({"-ORBRuntimeDirectory", directory.path()});
  shared.activate();
  const auto probe = shared.probe();
  CHECK(probe->paced(3) == 3);
  const TaskId first = shared.task();
  REQUIRE(first != no_task);
  const std::string words = dispatch::text_of({os::this_process().start_ticks, first.value});
  REQUIRE(os::write_small_file(dispatch::end_request(directory.path(), ::getpid()), words, 0600));
  while (shared.task() == first) std::this_thread::yield();  // bound: the housekeeper looks
  CHECK_THROWS_MATCHES(probe->paced(3), CORBA::NO_RESOURCES,
                       Catch::Predicate<CORBA::NO_RESOURCES>(
                           [](const CORBA::NO_RESOURCES& refused) { return refused.minor() == minor::unknown_task; }));
  CHECK(probe->paced(3) == 3);
  CHECK(shared.task() != first);
}

TEST_CASE("a shared task that has left for another reason is admitted anew, too") {
  Sharing shared;
  shared.activate();
  const auto probe = shared.probe();
  const TaskId first = shared.task();
  shared.executive().depart(first);
  while (shared.task() == first) std::this_thread::yield();  // bound: the manager
  CHECK_THROWS_AS(probe->paced(3), CORBA::SystemException);
  CHECK(probe->paced(3) == 3);
}
