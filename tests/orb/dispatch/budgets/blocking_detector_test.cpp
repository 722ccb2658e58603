// Tests undeclared waits of jobs. They are found when the job ends. Where contracts are enforced, they are found early
// enough to keep the bounds of other tasks.
#include "orb/dispatch/budgets/blocking_detector.h"

#include "orb/os/clock.h"
#include "orb/os/threads/thread_state.h"
#include "tests/orb/dispatch/cores/real_alarm.h"
#include "tests/orb/dispatch/fixture.h"

using namespace corelane;
using namespace corelane::dispatch;
using namespace corelane::dispatch::test;
using namespace std::chrono_literals;

namespace {

Contract enforced(OverrunPolicy policy) {
  Contract contract = plain(10ms, 1ms);
  contract.on_overrun = policy;
  return contract;
}

// A machine with one task. The test says how its job spends its time.
class Blocking : public Machine {
 public:
  explicit Blocking(OverrunPolicy policy = OverrunPolicy::report, bool charges = false)
      : Machine(1, charging(charges)), task(admit(enforced(policy))) {
    manager.pools()[0]->watch_budgets(&alarm);
  }
  ~Blocking() { manager.pools()[0]->watch_budgets(nullptr); }

  void run(std::function<void(ScriptedJob&)> body) {
    JobPtr job(new ScriptedJob(std::move(body)));
    job->task = task;
    job->arrived = virtual_now;
    REQUIRE(manager.submit(job) == Pushed::done);
    settle();
    virtual_now += 10ms;
  }
  void execute(Duration time) { virtual_now += time, virtual_cpu += time; }
  void wait(Duration time) { virtual_now += time; }
  void preempted(Duration time) { virtual_now += time, virtual_delay += time; }
  int native() { return threads.threads[0]->placement.native; }
  std::uint64_t blocks() { return report(task).blocks; }

  class Alarm final : public BudgetAlarm {
   public:
    void set(Time at) noexcept override { due = at; }
    Time due = never;
  } alarm;
  TaskId task;
};

}  // namespace

TEST_CASE("a job that waits without saying so is counted once it has waited noticeably") {
  Blocking machine;
  machine.run([&](auto&) { machine.execute(500us), machine.wait(BlockingDetector::shortest - 1ns); });
  CHECK(machine.blocks() == 0);
  machine.run([&](auto&) { machine.execute(500us), machine.wait(BlockingDetector::shortest); });
  CHECK(machine.blocks() == 1);
  machine.run([&](auto&) { machine.wait(3ms), machine.execute(500us); });
  CHECK(machine.blocks() == 2);
}

TEST_CASE("a job that was kept from its core, or said that it sleeps, is not counted") {
  Blocking machine;
  machine.run([&](auto&) { machine.execute(500us), machine.preempted(5ms); });
  machine.run([&](auto&) {
    const SuspensionScope sleeps;
    machine.wait(5ms);
  });
  CHECK(machine.blocks() == 0);
}

TEST_CASE("some jobs of a task that is often kept from its core are examined all the same") {
  Blocking machine;
  for (int i = 0; i < 200; ++i) machine.run([&](auto&) { machine.preempted(1ms); });
  for (int i = 0; i <= BlockingDetector::longest_pause; ++i) machine.run([&](auto&) { machine.wait(1ms); });
  CHECK(machine.blocks() > 0);
  const std::uint64_t before = machine.blocks();
  for (int i = 0; i < 10; ++i) machine.run([&](auto&) { machine.wait(1ms); });
  CHECK(machine.blocks() == before + 10);  // from then on, each wait is counted
}

TEST_CASE(
    "a job that sleeps while its budget should be used goes below all others when its contract is enforced or it is "
    "charged") {
  const OverrunPolicy policy = GENERATE(OverrunPolicy::report, OverrunPolicy::demote, OverrunPolicy::cancel);
  Blocking machine(policy, policy == OverrunPolicy::report);
  const int own = machine.native();
  int during = -1, time_outs = 0;
  machine.run([&](ScriptedJob& job) {
    machine.execute(100us);
    machine.wait(900us);
    virtual_sleep = true;
    machine.manager.pools()[0]->check_budget(virtual_now);
    during = machine.native();
    time_outs = job.time_outs;
    virtual_sleep = false;
    machine.wait(4ms);
  });
  CHECK(during == 0);
  CHECK(time_outs == (policy == OverrunPolicy::cancel ? 1 : 0));
  CHECK(machine.blocks() == 1);
  machine.run([&](auto&) { during = machine.native(); });
  CHECK(during == own);
}

TEST_CASE("a job that sleeps when hardly anything is left of its budget is found once it has slept for long enough") {
  Blocking machine(OverrunPolicy::demote);
  const int own = machine.native();
  std::vector<int> seen;
  const auto look = [&] {
    machine.manager.pools()[0]->check_budget(virtual_now);
    seen.push_back(machine.native());
  };
  machine.run([&](auto&) {
    machine.execute(900us);
    virtual_sleep = true;
    machine.wait(100us), look();
    machine.wait(BlockingDetector::shortest - 1ns), look();
    virtual_sleep = false;
    machine.execute(50us);
    virtual_sleep = true;
    machine.wait(1ms), look();  // it is not yet known how long this sleep has lasted
    machine.wait(BlockingDetector::shortest), look();
    virtual_sleep = false;
  });
  CHECK(seen == std::vector{own, own, own, 0});
}

TEST_CASE("a job that is kept from its core while its budget should be used keeps its priority") {
  Blocking machine(OverrunPolicy::demote);
  const int own = machine.native();
  int during = -1;
  machine.run([&](auto&) {
    machine.preempted(1ms);
    machine.manager.pools()[0]->check_budget(virtual_now);
    during = machine.native();
  });
  CHECK(during == own);
}

TEST_CASE("a job whose thread has not been woken yet is not taken for one that sleeps") {
  Blocking machine(OverrunPolicy::cancel);
  const auto fate = machine.send(machine.task);
  machine.decide();
  virtual_now += 1ms;
  virtual_sleep = true;
  machine.manager.pools()[0]->check_budget(virtual_now);
  CHECK(machine.native() > 0);
  machine.settle();
  CHECK(fate->runs == 1);
  CHECK(machine.report(machine.task).overruns == 0);
}

TEST_CASE("the real alarm finds a job that sleeps and lets the caller go") {
  RealAlarm alarm(enforced(OverrunPolicy::cancel));
  bool stopped = false;
  alarm.run([&] {
    const auto& stop = *current_job()->stop;
    // relaxed: a flag. Bound: the alarm, which finds the job asleep
    while (!stop.load(std::memory_order_relaxed)) os::sleep_until(os::now() + 20ms);  // sleep: what the test is about
    stopped = true;
  });
  CHECK(stopped);
}

TEST_CASE("a thread that waits is asleep, and one that asks is not") {
  CHECK_FALSE(os::is_asleep(gettid()));
  CHECK_FALSE(os::is_asleep(0));
  CHECK_FALSE(os::is_asleep(-3));
  if (!os::run_delay()) std::puts("SKIPPED: this kernel does not say how long a thread waited for a core");
}
