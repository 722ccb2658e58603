// Tests enforced budgets, which are watched while the job runs: in virtual time, and with the real alarm.
#include <atomic>
#include <functional>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "orb/dispatch/current.h"
#include "orb/os/clock.h"
#include "tests/orb/dispatch/cores/real_alarm.h"
#include "tests/orb/dispatch/fixture.h"

using namespace corelane;
using namespace corelane::dispatch;
using namespace corelane::dispatch::test;
using namespace std::chrono_literals;

namespace {

class VirtualAlarm final : public BudgetAlarm {
 public:
  void set(Time at) noexcept override { due = at; }
  Time due = never;
};

Contract with_policy(OverrunPolicy policy) {
  Contract contract = make_contract(10ms, 1ms, {}, 0ms);
  contract.on_overrun = policy;
  return contract;
}

// One task on one core. The test plays the core's alarm.
class Watched : public Machine {
 public:
  explicit Watched(OverrunPolicy policy, bool charges = false)
      : Machine(1, charging(charges)), task(admit(with_policy(policy))) {
    pool().watch_budgets(&alarm);
  }
  ~Watched() { pool().watch_budgets(nullptr); }

  CorePool& pool() { return *manager.pools().front(); }
  int native() { return threads.threads.front()->placement.native; }
  bool stopped() { return current_job()->stop->load(std::memory_order_relaxed); }  // relaxed: the test has one thread
  // Lets the job run for that long. The alarm goes off when it is due.
  void execute(Duration duration) {
    const Time end = virtual_now + duration;
    while (alarm.due <= end) {  // bound: each time, the alarm is set for later or switched off
      pass(alarm.due - virtual_now);
      alarm.due = never;
      pool().check_budget(virtual_now);
    }
    pass(end - virtual_now);
  }
  void preempted(Duration duration) {
    virtual_now += duration;
    if (alarm.due > virtual_now) return;
    alarm.due = never;
    pool().check_budget(virtual_now);
  }
  void run(std::function<void(ScriptedJob&)> body) {
    JobPtr job(new ScriptedJob(std::move(body)));
    job->task = task;
    job->arrived = virtual_now;
    REQUIRE(manager.submit(job) == Pushed::done);
    settle();
  }

  VirtualAlarm alarm;
  TaskId task;

 private:
  static void pass(Duration time) {
    virtual_now += time;
    virtual_cpu += time;
  }
};

}  // namespace

TEST_CASE("a job within its budget keeps its priority and its answer") {
  Watched machine(GENERATE(OverrunPolicy::demote, OverrunPolicy::cancel));
  const int own = machine.native();
  int during = 0, time_outs = -1;
  machine.run([&](ScriptedJob& job) {
    machine.execute(1ms - 1ns);
    during = machine.native();
    time_outs = job.time_outs;
  });
  CHECK(during == own);
  CHECK(time_outs == 0);
  CHECK(machine.alarm.due == never);
  CHECK(machine.report(machine.task).overruns == 0);
}

TEST_CASE("a job that overruns is demoted until it ends, and the next one has its priority again") {
  Watched machine(OverrunPolicy::demote);
  const int own = machine.native();
  int during = -1, next = -1, time_outs = -1;
  bool stopped = true;
  machine.run([&](ScriptedJob& job) {
    machine.execute(5ms);
    during = machine.native();
    stopped = machine.stopped();
    time_outs = job.time_outs;
  });
  CHECK(during == 0);
  CHECK(time_outs == 0);
  CHECK_FALSE(stopped);
  CHECK(machine.native() == own);
  CHECK(machine.report(machine.task).overruns == 1);
  machine.advance(20ms);
  machine.run([&](ScriptedJob&) { next = machine.native(); });
  CHECK(next == own);
}

TEST_CASE("a job that overruns is cancelled: its answer goes out, it is told to stop and it is demoted") {
  Watched machine(OverrunPolicy::cancel);
  const int own = machine.native();
  int during = -1, time_outs = -1;
  bool before = true, stopped = false, next_stopped = true;
  machine.run([&](ScriptedJob& job) {
    machine.execute(900us);
    before = machine.stopped();
    machine.execute(2ms);
    during = machine.native();
    stopped = machine.stopped();
    time_outs = job.time_outs;
  });
  CHECK_FALSE(before);
  CHECK(stopped);
  CHECK(time_outs == 1);
  CHECK(during == 0);
  CHECK(machine.native() == own);
  machine.advance(20ms);
  machine.run([&](ScriptedJob&) { next_stopped = machine.stopped(); });
  CHECK_FALSE(next_stopped);
}

TEST_CASE("a job that is cancelled before its thread begins with it is answered and told to stop when that does") {
  Watched machine(OverrunPolicy::cancel);
  machine.run([](ScriptedJob&) {});  // the thread's time after this job counts for the next one
  machine.advance(20ms);
  int time_outs = -1;
  bool stopped = false, next_stopped = true;
  JobPtr job(new ScriptedJob([&](ScriptedJob& self) {
    time_outs = self.time_outs;
    stopped = machine.stopped();
  }));
  job->task = machine.task;
  job->arrived = virtual_now;
  REQUIRE(machine.manager.submit(job) == Pushed::done);
  machine.decide();
  machine.execute(2ms);
  machine.settle();
  CHECK(time_outs == 1);
  CHECK(stopped);
  machine.advance(20ms);
  machine.run([&](ScriptedJob&) { next_stopped = machine.stopped(); });
  CHECK_FALSE(next_stopped);
}

// If this thread held the core's lock, or a lock that its holder needs, the test would hang until its timeout.
TEST_CASE("while the system demotes a thread, and restores it, its core's lock is free and its job may change again") {
  Watched machine(OverrunPolicy::demote);
  int changes = 0;
  auto& thread = *machine.threads.threads.front();
  thread.on_place = [&] {
    std::jthread([&] {
      (void)machine.pool().timer_releases();
      if (changes < 2) thread.worker->placer().step_back();
    });
    ++changes;
  };
  machine.run([&](ScriptedJob&) { machine.execute(5ms); });
  CHECK(changes == 3);  // a change made while the system restores the thread is applied as well
}

TEST_CASE("jobs that wait behind a demoted job are spaced from when its thread has its level again") {
  Watched machine(GENERATE(OverrunPolicy::demote, OverrunPolicy::cancel));
  std::vector<std::shared_ptr<Fate>> waiting;
  bool below = false;
  machine.threads.threads.front()->on_place = [&] {
    if (std::exchange(below, false)) virtual_now += 25ms;  // other tasks ran before the system had changed the thread
  };
  machine.run([&](ScriptedJob&) {
    machine.execute(5ms);
    for (int i = 0; i < 3; ++i) {
      virtual_now += 10ms;
      waiting.push_back(machine.send(machine.task));
      machine.decide();
    }
    below = true;
  });
  CHECK_FALSE(below);
  CHECK(waiting[0]->over());
  CHECK_FALSE(waiting[1]->over());
  machine.advance(10ms);
  CHECK(waiting[1]->over());
  CHECK_FALSE(waiting[2]->over());
}

TEST_CASE("time in which a job is preempted is not its budget's") {
  Watched machine(OverrunPolicy::demote);
  const int own = machine.native();
  int preempted = -1, after = -1;
  machine.run([&](ScriptedJob&) {
    machine.execute(500us);
    machine.preempted(5ms);
    preempted = machine.native();
    machine.execute(600us);
    after = machine.native();
  });
  CHECK(preempted == own);
  CHECK(after == 0);
}

TEST_CASE("a job that is preempted more often than its budget lasts is found all the same") {
  Watched machine(GENERATE(OverrunPolicy::demote, OverrunPolicy::cancel));
  const TaskId urgent = machine.admit(make_contract(900us, 1us, {}, 0ms));
  machine.decide();
  const auto preempt = [&] {
    const auto fate = machine.send(urgent);
    machine.decide();
    REQUIRE(machine.threads.threads.back()->worker->step(virtual_now));
    CHECK(fate->runs == 1);
  };
  int after = -1;
  machine.run([&](ScriptedJob&) {
    for (int i = 0; i < 2; ++i) machine.execute(900us), preempt();
    after = machine.native();
  });
  CHECK(after == 0);
}

TEST_CASE("a contract that wants overruns reported is not watched where they are not charged") {
  Watched machine(OverrunPolicy::report);
  Time due{};
  int during = 0;
  const int own = machine.native();
  machine.run([&](ScriptedJob&) {
    due = machine.alarm.due;
    machine.execute(3ms);
    during = machine.native();
  });
  CHECK(due == never);
  CHECK(during == own);
  CHECK(machine.report(machine.task).overruns == 1);
}

TEST_CASE("where overruns are charged the rest of a job is below the others until the next one would be released") {
  Watched machine(OverrunPolicy::report, true);
  const int own = machine.native();
  int below = -1, back = -1, within = -1, again = -1, time_outs = -1;
  machine.run([&](ScriptedJob& job) {
    machine.execute(1ms);
    below = machine.native();
    machine.preempted(9ms);
    back = machine.native();
    machine.execute(900us);
    within = machine.native();
    machine.execute(200us);
    again = machine.native();
    time_outs = job.time_outs;
  });
  CHECK(below == 0);
  CHECK(back == own);
  CHECK(within == own);
  CHECK(again == 0);
  CHECK(time_outs == 0);
  CHECK(machine.native() == own);
  CHECK(machine.alarm.due == never);
  CHECK(machine.report(machine.task).overruns == 1);
  const auto next = machine.send(machine.task);  // at 11.1 ms; the release at 10 ms was taken
  machine.decide();
  machine.settle();
  CHECK(next->runs == 0);
  machine.advance(9ms);
  CHECK(next->runs == 1);
}

TEST_CASE("a job that ends below the others before the next one's release takes nothing from it") {
  Watched machine(OverrunPolicy::report, true);
  machine.run([&](ScriptedJob&) { machine.execute(3ms); });
  CHECK(machine.alarm.due == never);
  machine.advance(7ms);
  const auto next = machine.send(machine.task);
  machine.decide();
  machine.settle();
  CHECK(next->runs == 1);
}

TEST_CASE("the watched job is not looked at before its time when another one's place has come") {
  Watched machine(OverrunPolicy::report, true);
  const TaskId other = machine.admit(make_contract(40ms, 8ms, {}, 0ms));
  machine.decide();
  int rogue = -1, victim = -1;
  machine.run([&](ScriptedJob&) {
    machine.execute(1ms);
    JobPtr job(new ScriptedJob([&](ScriptedJob&) {
      machine.preempted(7ms);
      virtual_sleep = true;  // it looks asleep for a moment, after it ran for a third of its budget
      machine.preempted(2ms);
      virtual_sleep = false;
      rogue = machine.threads.threads.front()->placement.native;
      victim = machine.threads.threads.back()->placement.native;
    }));
    job->task = other;
    job->arrived = virtual_now;
    REQUIRE(machine.manager.submit(job) == Pushed::done);
    machine.decide();
    machine.threads.threads.back()->worker->step(virtual_now);
  });
  CHECK(rogue > 0);
  CHECK(victim > 0);
}

TEST_CASE("a task that is given another priority while it is demoted gets it when its job ends") {
  Watched machine(OverrunPolicy::demote);
  const int own = machine.native();
  int during = -1;
  machine.run([&](ScriptedJob&) {
    machine.execute(2ms);
    machine.threads.threads.front()->worker->placer().placement({.core = CoreId{0}, .native = own + 1});
    during = machine.native();
  });
  CHECK(during == 0);
  CHECK(machine.native() == own + 1);
}

TEST_CASE("a job can learn its own number, and code outside of a job cannot") {
  Watched machine(OverrunPolicy::report);
  TaskId task{};
  machine.run([&](ScriptedJob&) { task = current_job()->context.task; });
  CHECK(task == machine.task);
  CHECK(current_job() == nullptr);
}

TEST_CASE("the real alarm stops a job that would run for ever") {
  RealAlarm alarm(with_policy(OverrunPolicy::cancel));
  alarm.run([] {
    // relaxed: a flag. Bound: the budget
    while (!current_job()->stop->load(std::memory_order_relaxed)) os::spin_pause();
  });
  CHECK(alarm.end().overruns == 1);
}
