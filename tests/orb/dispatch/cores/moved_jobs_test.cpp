// Tests jobs that run while their core is lost. They continue where their tasks go, and are held to their contracts
// there.
#include <algorithm>
#include <deque>
#include <functional>

#include "orb/dispatch/current.h"
#include "orb/dispatch/leases/core_watch.h"
#include "tests/orb/dispatch/fixture.h"
#include "tests/support/quiet.h"

namespace moved_jobs_test {

using namespace corelane;
using namespace corelane::dispatch;
using namespace corelane::dispatch::test;
using corelane::testing::Quiet;
using namespace std::chrono_literals;

namespace {

constexpr CoreId lost{0}, second{1}, third{2};

class VirtualAlarm final : public BudgetAlarm {
 public:
  void set(Time at) noexcept override { due = at; }
  Time due = never;
};

ExecutiveOptions with_order(sched::CoreOrder order) {
  ExecutiveOptions options = bare_options();
  if (order == sched::CoreOrder::deadline) options.deadline_cores = {second, third};
  return options;
}

Contract held_to_it(Duration budget) {
  Contract contract = plain(100ms, budget);
  contract.on_overrun = OverrunPolicy::demote;
  return contract;
}

// Three cores. The first has tasks of 40 % and 30 %, each of the others a task of 50 %. So each of the others has room
// for one of the first core's tasks.
class Machine3 : public Machine {
 public:
  explicit Machine3(sched::CoreOrder order = sched::CoreOrder::priority) : Machine(3, with_order(order)) {
    for (const auto& pool : manager.pools()) pool->watch_budgets(&alarms.emplace_back());
    one = admit(held_to_it(40ms));
    admit(plain(100ms, 50ms));
    admit(plain(100ms, 50ms));
    other = admit(held_to_it(30ms));
    REQUIRE(placement_of(one).core == lost);
    REQUIRE(placement_of(other).core == lost);
  }
  ~Machine3() {
    for (const auto& pool : manager.pools()) pool->watch_budgets(nullptr);
  }

  NoThreads::Made& thread_of(TaskId task) {
    const auto found = std::find_if(threads.threads.begin(), threads.threads.end(),
                                    [&](const auto& thread) { return thread->worker->task() == task; });
    REQUIRE(found != threads.threads.end());
    return **found;
  }
  ThreadPlacement placement_of(TaskId task) { return thread_of(task).placement; }
  void lose_core() {
    provider().revoked.push_back(lost);
    virtual_now += CoreWatch::period;
    decide();  // the housekeeper notices
    decide();
  }
  // Submits a job of the task. The task's thread begins with it at once.
  void run(TaskId task, std::function<void()> body) {
    JobPtr job(new ScriptedJob([body = std::move(body)](ScriptedJob&) { body(); }));
    job->task = task;
    job->arrived = virtual_now;
    REQUIRE(manager.submit(job) == Pushed::done);
    decide();
    REQUIRE(thread_of(task).worker->step(virtual_now));
  }
  // Runs jobs of both tasks of the core that will be lost, at the same time. The job of `other` has the core.
  void run_both(std::function<void()> body) {
    run(one, [&] { run(other, body); });
  }
  // Lets every job execute for that long, each on its own core. Each alarm goes off when it is due.
  void execute(Duration duration) {
    virtual_now += duration;
    virtual_cpu += duration;
    for (std::size_t i = 0; i < alarms.size(); ++i) {
      if (alarms[i].due > virtual_now) continue;
      alarms[i].due = never;
      manager.pools()[i]->check_budget(virtual_now);
    }
  }

  Quiet quiet;
  std::deque<VirtualAlarm> alarms;
  TaskId one, other;
};

}  // namespace

TEST_CASE("jobs that run when their core is lost are each held to their budgets on their new cores") {
  Machine3 m(GENERATE(sched::CoreOrder::priority, sched::CoreOrder::deadline));
  int within_one = 0, within_other = 0, beyond_one = -1, beyond_other = -1;
  m.run_both([&] {
    m.lose_core();
    REQUIRE(m.placement_of(m.one).core == second);
    REQUIRE(m.placement_of(m.other).core == third);
    m.execute(20ms);
    within_one = m.placement_of(m.one).native, within_other = m.placement_of(m.other).native;
    for (int i = 0; i < 10; ++i) m.execute(10ms);  // by deadlines, each demotion may wait for the next job's budget
    beyond_one = m.placement_of(m.one).native, beyond_other = m.placement_of(m.other).native;
  });
  CHECK(within_one > 0);
  CHECK(within_other > 0);
  CHECK(beyond_one == 0);
  CHECK(beyond_other == 0);
}

TEST_CASE("a job that was moved while it ran has its level back for the next one and no waiting job is lost") {
  Machine3 m;
  int runs = 0, core_of_next = -1;
  m.run_both([&] {
    m.lose_core();
    m.execute(50ms);
  });
  m.settle();
  CHECK(m.placement_of(m.one).native > 0);
  CHECK(m.report(m.one).overruns == 1);
  m.advance(100ms);
  m.run(m.one, [&] { ++runs, core_of_next = current_job()->context.core.value; });
  CHECK(runs == 1);
  CHECK(core_of_next == second.value);
}

TEST_CASE("a job that sleeps while its core is lost is resumed on the core to which its task went") {
  Machine3 m;
  const TaskId sleeper = m.other;
  int asleep = 0, awake = -1;
  m.run(sleeper, [&] {
    {
      const SuspensionScope scope;  // its contract has no suspension, so it oversleeps
      m.lose_core();
      asleep = m.placement_of(sleeper).native;
      virtual_now += 1ms;
    }
    awake = m.placement_of(sleeper).native;
  });
  CHECK(m.placement_of(sleeper).core != lost);
  CHECK(asleep == 0);
  CHECK(awake == 0);
  CHECK(m.report(sleeper).oversleeps == 1);
}

TEST_CASE("a job of a task that must end with its core ends below all tasks") {
  Machine3 m;
  for (const CoreId full : {second, third}) REQUIRE(m.placement_of(m.admit(plain(100ms, 25ms))).core == full);
  int before = 0, after = -1;
  m.run(m.one, [&] {
    before = m.placement_of(m.one).native;
    m.lose_core();
    after = m.placement_of(m.one).native;
  });
  m.settle();
  CHECK(before > 0);
  CHECK(after == 0);
  CHECK(m.thread_of(m.one).ended);
}

TEST_CASE("a task that leaves as its core is lost ends its job below all tasks") {
  Machine3 m;
  int after = -1;
  m.run(m.one, [&] {
    m.manager.depart(m.one, {});
    m.decide();
    m.lose_core();
    after = m.placement_of(m.one).native;
  });
  m.settle();
  CHECK(after == 0);
  CHECK(m.thread_of(m.one).ended);
}

}  // namespace moved_jobs_test
