// Tests an executive without memory. Each allocation of the manager and of the housekeeper fails in turn, alone and
// with all later ones. A new request may be refused for that. What was promised is kept.
#include <catch2/catch.hpp>

#include "orb/base/errors.h"
#include "orb/dispatch/inline/inline_tasks.h"
#include "orb/os/threads/deferral.h"
#include "tests/orb/dispatch/fixture.h"
#include "tests/support/failing_allocations.h"
#include "tests/support/quiet.h"
#include "tests/support/system/temp_directory.h"

using namespace corelane;
using namespace corelane::dispatch;
using namespace corelane::dispatch::test;
using namespace std::chrono_literals;
using corelane::testing::allocations_are_counted;
using corelane::testing::FailingAllocations;
using corelane::testing::Quiet;
using corelane::testing::TempDirectory;

namespace {

constexpr PeerId client{7};

Contract locking(Duration budget) {
  Contract contract = plain(100ms, budget);
  contract.uses[0] = use_of("a rather long name of a valve", 1ms);
  contract.uses[1] = use_of("a pump", 1ms);
  return contract;
}

// Two cores with one task each: 30 % of core 0, and 40 % of core 1 for a task of a client.
class Plant {
 public:
  explicit Plant(int spares = 0) : machine(2, options()) {
    machine.threads.spares = spares;
    resident = machine.admit(locking(30ms));
    theirs = machine.admit(plain(100ms, 40ms), client);
  }

  void lose(CoreId core) {
    machine.provider().revoked.push_back(core);
    virtual_now += CoreWatch::period;
  }
  bool runs(TaskId task, PeerId peer = {}) {
    const auto fate = machine.send(task, {}, peer);
    machine.settle();
    return fate->runs == 1;
  }
  std::size_t living() {
    std::size_t count = 0;
    for (const TaskReport& task : machine.manager.report().tasks) count += task.gone ? 0 : 1;
    return count;
  }
  std::size_t promised_tasks() {
    std::size_t count = 0;
    for (const Promise& promise : machine.provider().mine) count += promise.kind == PromiseKind::task ? 1 : 0;
    return count;
  }

  TempDirectory directory;
  Machine machine;
  TaskId resident, theirs;

 private:
  ExecutiveOptions options() {
    ExecutiveOptions options = bare_options();
    options.recorder.runtime_directory = directory.path();
    options.platform = {.budget = 10us, .period = 1ms};
    options.reader.budget = 10us;
    return options;
  }
};

struct Trial {
  std::size_t n;
  bool lasting;
};
// Calls round(trial) until no allocation is left to fail. round() returns whether an allocation failed.
template <typename Round>
void for_each_failure(Round round) {
  if (!allocations_are_counted()) return;
  const Quiet quiet;
  for (const bool lasting : {false, true}) {
    std::size_t n = 0;
    while (round(Trial{n, lasting})) ++n;
    CHECK(n > 0);
  }
}

bool decide_without_memory(Plant& plant, const Trial& trial) {
  const FailingAllocations failing({.first = trial.n, .lasting = trial.lasting});
  plant.machine.decide();
  return failing.happened();
}

// Checks, with memory again, that the earlier tasks are there, that nothing else is promised, and that there is room.
void check_that_nothing_was_lost(Plant& plant, std::size_t tasks) {
  plant.machine.advance(1s);
  plant.machine.advance(1s);
  CHECK(plant.living() == tasks);
  CHECK(plant.promised_tasks() == tasks);
  const auto candidate = plant.machine.ask(locking(20ms));
  plant.machine.settle();
  CHECK(candidate->admission);
}

void check_admission(int spares) {
  for_each_failure([&](const Trial& trial) {
    Plant plant(spares + 2);
    if (spares == 0) plant.machine.threads.spares = 0;
    const auto answer = plant.machine.ask(locking(20ms), {}, "a name that takes memory");
    const bool failed = decide_without_memory(plant, trial);
    plant.machine.settle();
    CHECK(answer->calls == 1);
    const bool refused = answer->error == errors::no_memory;
    CHECK((answer->admission || (refused && failed)));
    if (answer->admission) CHECK(plant.runs(answer->admission->task));
    CHECK(plant.runs(plant.resident));
    CHECK(plant.runs(plant.theirs, client));
    check_that_nothing_was_lost(plant, answer->admission ? 3 : 2);
    return failed;
  });
}

}  // namespace

TEST_CASE("without memory an admission fails and harms no other task") { check_admission(0); }

TEST_CASE("without memory an admission to a sleeping thread fails and harms no other task") { check_admission(1); }

TEST_CASE("without memory the first job of a new task is answered") {
  for_each_failure([](const Trial& trial) {
    Plant plant;
    const auto fate = plant.machine.send_new(locking(20ms));
    const bool failed = decide_without_memory(plant, trial);
    plant.machine.settle();
    CHECK(fate->over());
    CHECK((fate->runs == 1 || (failed && fate->error == errors::no_memory)));
    check_that_nothing_was_lost(plant, fate->runs == 1 ? 3 : 2);
    return failed;
  });
}

TEST_CASE("without memory a task that is refused beside other processes still gets its answer") {
  for_each_failure([](const Trial& trial) {
    Plant plant;
    plant.machine.provider().others = {
        {.core = CoreId{0}, .physical_core = 0, .contract = plain(50ms, 10ms), .owner = 1},
        {.core = CoreId{1}, .physical_core = 1, .contract = plain(50ms, 10ms), .owner = 1}};
    const auto answer = plant.machine.ask(plain(100ms, 90ms));
    const bool failed = decide_without_memory(plant, trial);
    plant.machine.settle();
    CHECK(answer->calls == 1);
    CHECK((answer->refusal || (failed && answer->error == errors::no_memory)));
    plant.machine.provider().others.clear();
    check_that_nothing_was_lost(plant, 2);
    return failed;
  });
}

TEST_CASE("without memory a task leaves all the same") {
  for_each_failure([](const Trial& trial) {
    Plant plant;
    plant.machine.manager.depart(plant.resident, {});
    const bool failed = decide_without_memory(plant, trial);
    CHECK_FALSE(plant.runs(plant.resident));
    CHECK(plant.runs(plant.theirs, client));
    check_that_nothing_was_lost(plant, 1);
    return failed;
  });
}

TEST_CASE("without memory the tasks of a client that is gone leave all the same") {
  for_each_failure([](const Trial& trial) {
    Plant plant;
    const auto candidate = plant.machine.ask(plain(100ms, 10ms), client);
    bool failed = false;
    {
      const FailingAllocations failing({.first = trial.n, .lasting = trial.lasting});
      plant.machine.manager.peer_gone(client);
      plant.machine.decide();
      failed = failing.happened();
    }
    plant.machine.settle();
    CHECK(candidate->calls == 1);
    check_that_nothing_was_lost(plant, 1);
    return failed;
  });
}

TEST_CASE("without memory the jobs of admitted tasks run") {
  if (!allocations_are_counted()) return;
  Plant plant;
  const auto fate = plant.machine.send(plant.resident, 1ms);
  const FailingAllocations failing;
  plant.machine.decide();
  for (const auto& thread : plant.machine.threads.threads) thread->worker->step(virtual_now);
  CHECK(fate->runs == 1);
}

TEST_CASE("without memory tasks move when their core is lost") {
  for_each_failure([](const Trial& trial) {
    Plant plant;
    plant.lose(CoreId{0});
    bool failed = false;
    {
      const FailingAllocations failing({.first = trial.n, .lasting = trial.lasting});
      for (int i = 0; i < 3; ++i) plant.machine.decide();
      failed = failing.happened();
    }
    plant.machine.advance(LedgerClient::longest_retry);
    CHECK(plant.runs(plant.resident));
    CHECK(plant.machine.report(plant.resident).core == CoreId{1});
    check_that_nothing_was_lost(plant, 2);
    return failed;
  });
}

TEST_CASE("without memory, tasks that a new task moves stay admitted") {
  for_each_failure([](const Trial& trial) {
    Plant plant;
    const TaskId third = plant.machine.admit(plain(100ms, 30ms));  // 60 % and 40 %, or 30 % and 70 %
    const auto answer = plant.machine.ask(plain(100ms, 60ms));     // fits only beside a single task of 30 %
    bool failed = false;
    {
      const FailingAllocations failing({.first = trial.n, .lasting = trial.lasting});
      for (int i = 0; i < 5; ++i) plant.machine.decide();
      failed = failing.happened();
    }
    plant.machine.advance(1s);
    CHECK(answer->calls == 1);
    CHECK((answer->admission || (failed && answer->error == errors::no_memory)));
    CHECK(plant.runs(plant.resident));
    CHECK(plant.runs(plant.theirs, client));
    CHECK(plant.runs(third));
    plant.machine.advance(1s);
    CHECK(plant.promised_tasks() == (answer->admission ? 4 : 3));
    return failed;
  });
}

TEST_CASE("without memory an executive ends") {
  if (!allocations_are_counted()) return;
  Plant plant;
  const auto answer = plant.machine.ask(plain(100ms, 10ms));
  const auto fate = plant.machine.send(plant.resident);
  const FailingAllocations failing;
  plant.machine.manager.shut_down(virtual_now);
  CHECK(answer->calls == 1);
  CHECK(fate->over());
  CHECK(plant.machine.provider().mine.empty());
}

// Mode leader-followers: jobs run where they arrive.

namespace {

struct Followers {
  Followers() : tasks(options()) {
    auto first = std::make_shared<Answer>();
    tasks.admit({.contract = plain(100ms, 30ms), .label = "resident"}, std::make_unique<TestHandler>(first));
    resident = first->admission->task;
  }
  ~Followers() { tasks.stop(); }

  std::shared_ptr<Fate> submit(JobPtr job, const std::shared_ptr<Fate>& fate) {
    job->arrived = virtual_now;
    CHECK(tasks.submit(job) == Pushed::done);
    return fate;
  }
  std::shared_ptr<Fate> send(TaskId task) {
    auto fate = std::make_shared<Fate>();
    JobPtr job(new TestJob(fate, {}));
    job->task = task;
    return submit(std::move(job), fate);
  }

  InlineTasks tasks;
  TaskId resident;

 private:
  static ExecutiveOptions options() {
    ExecutiveOptions options = bare_options();
    options.real_time = false;
    return options;
  }
};

// Submits a job that was made beforehand, while allocations fail. What the job defers runs later, on the same thread,
// as on a serving thread.
template <typename Prepare, typename Check>
void for_each_failing_job(Prepare prepare, Check check) {
  for_each_failure([&](const Trial& trial) {
    Followers followers;
    auto fate = std::make_shared<Fate>();
    JobPtr job(new TestJob(fate, {}));
    prepare(followers, *job);
    bool failed = false;
    {
      os::Deferral later;
      const FailingAllocations failing({.first = trial.n, .lasting = trial.lasting});
      followers.submit(std::move(job), fate);
      later.run();
      failed = failing.happened();
    }
    CHECK(fate->over());
    CHECK((fate->runs == 1 || (failed && fate->error == errors::no_memory)));
    check(followers, *fate);
    CHECK(followers.send(followers.resident)->runs == 1);
    return failed;
  });
}

}  // namespace

TEST_CASE("without memory a job that runs where it arrives is answered") {
  for_each_failing_job([](Followers& followers, Job& job) { job.task = followers.resident; },
                       [](Followers&, const Fate&) {});
}

TEST_CASE("without memory a new task that runs where its jobs arrive is there or not") {
  for_each_failing_job(
      [](Followers&, Job& job) { job.contract = plain(100ms, 10ms), job.label = "a name on the heap"; },
      [](Followers& followers, const Fate& fate) {
        CHECK(followers.tasks.report().tasks.size() == (fate.runs == 1 ? 2 : 1));
      });
}

TEST_CASE("without memory a task that runs where its jobs arrive leaves") {
  if (!allocations_are_counted()) return;
  Followers followers;
  {
    const FailingAllocations failing;
    followers.tasks.depart(followers.resident, {});
  }
  CHECK(followers.tasks.report().tasks.at(0).gone);
  CHECK(followers.send(followers.resident)->error == errors::task_gone);
}
