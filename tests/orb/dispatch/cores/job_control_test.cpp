// Tests what a job asks of its worker: to run at the ceiling of what it locks, and to be suspended while it waits.
#include <algorithm>
#include <functional>
#include <thread>
#include <vector>

#include "orb/dispatch/current.h"
#include "tests/orb/dispatch/fixture.h"

namespace job_control_test {

using namespace corelane;
using namespace corelane::dispatch;
using namespace corelane::dispatch::test;
using namespace std::chrono_literals;

namespace {

constexpr ResourceId bus = resource_named("bus"), journal = resource_named("journal");

Contract task(Duration deadline, std::initializer_list<ResourceUse> uses = {}) {
  Contract contract = make_contract(100ms, 1ms, deadline, 0ms);
  std::copy(uses.begin(), uses.end(), contract.uses.begin());
  return contract;
}

Contract sleeping(Duration suspension, OverrunPolicy policy) {
  Contract contract = make_contract(100ms, 1ms, 50ms, 0ms);
  contract.suspension = suspension;
  contract.on_overrun = policy;
  return contract;
}

class VirtualAlarm final : public BudgetAlarm {
 public:
  void set(Time at) noexcept override { due = at; }
  Time due = never;
};

// One core. The test writes the bodies of the jobs, and plays the core's alarm.
class Bench : public Machine {
 public:
  Bench() { pool().watch_budgets(&alarm); }
  ~Bench() { pool().watch_budgets(nullptr); }

  CorePool& pool() { return *manager.pools().front(); }
  // Returns the level of the n-th admitted task.
  int native(std::size_t n) { return threads.threads[n]->placement.native; }
  void send_body(TaskId to, std::function<void()> body) {
    JobPtr job(new ScriptedJob([body = std::move(body)](ScriptedJob&) { body(); }));
    job->task = to;
    job->arrived = virtual_now;
    REQUIRE(manager.submit(job) == Pushed::done);
  }
  void run(TaskId to, std::function<void()> body) {
    send_body(to, std::move(body));
    settle();
  }
  // Lets the running job continue for that long. The alarm goes off when it is due.
  void execute(Duration duration) {
    virtual_now += duration;
    virtual_cpu += duration;
    if (alarm.due > virtual_now) return;
    alarm.due = never;
    pool().check_budget(virtual_now);
  }

  VirtualAlarm alarm;
};

JobControl& control() { return *current_job()->control; }

}  // namespace

TEST_CASE("a job that locks a resource runs at its ceiling until it unlocks it") {
  Bench bench;
  const TaskId low = bench.admit(task(90ms, {use_of("bus", 100us)}));
  const TaskId high = bench.admit(task(10ms, {use_of("bus", 100us)}));
  REQUIRE(bench.native(0) < bench.native(1));
  int before = 0, inside = 0, after = 0, of_high = 0;
  bench.run(low, [&] {
    before = bench.native(0);
    CHECK(control().enter(bus));
    inside = bench.native(0);
    control().leave(bus);
    after = bench.native(0);
  });
  CHECK(before == bench.native(0));
  CHECK(inside == bench.native(1));
  CHECK(after == before);
  bench.run(high, [&] {
    control().enter(bus);
    of_high = bench.native(1);
    control().leave(bus);
  });
  CHECK(of_high == bench.native(1));
  CHECK(bench.report(low).undeclared_locks == 0);
}

TEST_CASE("nested sections run at the higher ceiling and end one by one") {
  Bench bench;
  const TaskId low = bench.admit(task(90ms, {use_of("bus", 100us), use_of("journal", 50us)}));
  bench.admit(task(50ms, {use_of("bus", 100us)}));
  bench.admit(task(10ms, {use_of("journal", 50us)}));
  std::vector<int> levels;
  bench.run(low, [&] {
    for (const ResourceId next : {bus, journal}) {
      control().enter(next);
      levels.push_back(bench.native(0));
    }
    control().leave(journal);
    levels.push_back(bench.native(0));
    control().leave(bus);
  });
  CHECK(levels == std::vector{bench.native(1), bench.native(2), bench.native(1)});
}

TEST_CASE("a new task raises the ceiling of a locked resource and starts when no job can hold it any more") {
  Bench bench;
  const TaskId low = bench.admit(task(90ms, {use_of("bus", 100us)}));
  int raised = 0, runs_inside = -1, runs_after = -1, runs = 0;
  bench.run(low, [&] {
    control().enter(bus);
    const TaskId high = bench.admit(task(10ms, {use_of("bus", 100us)}));
    raised = bench.native(0);
    bench.send_body(high, [&] { ++runs; });
    bench.decide();
    bench.threads.threads[1]->worker->step(virtual_now);
    runs_inside = runs;
    control().leave(bus);
    bench.threads.threads[1]->worker->step(virtual_now);
    runs_after = runs;
  });
  CHECK(raised == bench.native(1));
  CHECK(runs_inside == 0);
  CHECK(runs_after == 0);  // the job of `low` is still pending: no idle instant yet
  CHECK(runs == 1);
}

TEST_CASE("a demoted job ends its section at the ceiling first") {
  Bench bench;
  Contract contract = task(90ms, {use_of("bus", 100us)});
  contract.on_overrun = OverrunPolicy::demote;
  const TaskId low = bench.admit(contract);
  bench.admit(task(10ms, {use_of("bus", 100us)}));
  const int own = bench.native(0);
  int inside = -1, after = -1;
  bench.run(low, [&] {
    control().enter(bus);
    bench.execute(2ms);
    inside = bench.native(0);
    control().leave(bus);
    after = bench.native(0);
  });
  CHECK(inside == bench.native(1));
  CHECK(after == 0);
  CHECK(bench.native(0) == own);
}

TEST_CASE("a job knows how many of its task wait for it") {
  Bench bench;
  const TaskId one = bench.admit(task(90ms));
  const TaskId other = bench.admit(task(80ms));
  std::vector<std::size_t> seen;
  bench.run(one, [&] {
    seen.push_back(control().waiting_jobs());
    bench.send(other);
    bench.send(one);
    bench.decide();
    seen.push_back(control().waiting_jobs());
  });
  CHECK(seen == std::vector<std::size_t>{0, 1});
}

// If the lock were held, the test would hang until its timeout.
TEST_CASE("while the system demotes two threads that slept for too long their core's lock is free") {
  Bench bench;
  const TaskId first = bench.admit(sleeping(1ms, OverrunPolicy::demote));
  const TaskId second = bench.admit(sleeping(1ms, OverrunPolicy::demote));
  const TaskId third = bench.admit(task(90ms));
  int changes = 0, demoted[2] = {-1, -1};
  for (std::size_t i = 0; i < 2; ++i)
    bench.threads.threads[i]->on_place = [&] {
      std::jthread([&] { (void)bench.pool().timer_releases(); });
      ++changes;
    };
  bench.send_body(second, [&] {
    control().suspend(WaitsFor::anything);
    virtual_now += 5ms;
    bench.send_body(third, [] {});
    bench.decide();  // the arrival lets the CoreScheduler find both
    demoted[0] = bench.native(0), demoted[1] = bench.native(1);
    control().resume(WaitsFor::anything);
  });
  bench.decide();
  bench.send_body(first, [&] {
    control().suspend(WaitsFor::anything);
    bench.threads.threads[1]->worker->step(virtual_now);
    control().resume(WaitsFor::anything);
  });
  bench.decide();
  bench.threads.threads[0]->worker->step(virtual_now);
  CHECK(demoted[0] == 0);
  CHECK(demoted[1] == 0);
  CHECK(changes == 4);  // two demotions and two restorations
}

TEST_CASE("time in which a job is suspended is not its budget's and the core is watched for the next job") {
  Bench bench;
  const TaskId sleeper = bench.admit(sleeping(5ms, OverrunPolicy::demote));
  Contract other = task(90ms);
  other.on_overrun = OverrunPolicy::demote;
  const TaskId below = bench.admit(other);
  REQUIRE(bench.native(1) < bench.native(0));
  const int own = bench.native(0);
  int other_demoted = -1, woken = -1;
  bench.run(sleeper, [&] {
    bench.execute(900us);
    bench.send_body(below, [&] {
      bench.execute(2ms);
      other_demoted = bench.native(1);
    });
    bench.decide();
    {
      const SuspensionScope asleep;
      bench.threads.threads[1]->worker->step(virtual_now);
    }
    virtual_cpu -= 2ms;  // the other task used these 2 ms
    woken = bench.native(0);
  });
  CHECK(other_demoted == 0);
  CHECK(woken == own);
  CHECK(bench.report(sleeper).oversleeps == 0);
  CHECK(bench.report(sleeper).overruns == 0);
}

TEST_CASE("a job that sleeps for longer than it declared is counted and treated as its contract says") {
  struct Case {
    Duration declared;
    OverrunPolicy policy;
    bool demoted;
  };
  const Case c = GENERATE(Case{1ms, OverrunPolicy::demote, true}, Case{0ms, OverrunPolicy::demote, true},
                          Case{1ms, OverrunPolicy::report, false}, Case{0ms, OverrunPolicy::report, false});
  struct AtOnce final : InternalJobQueue {
    void take_internal(JobPtr& job) noexcept override { std::exchange(job, nullptr)->run({}); }
  } queue;
  TaskEvents events(queue);
  std::vector<TaskEvent> heard;
  for (const auto kind : {TaskEventKind::overrun, TaskEventKind::oversleep})
    events.set(kind, [&](const TaskEvent& event) { heard.push_back(event); });
  Bench bench;
  bench.manager.tell_events_to(events);
  const TaskId id = bench.admit(sleeping(c.declared, c.policy));
  const int own = bench.native(0);
  int woken = -1;
  bench.run(id, [&] {
    {
      const SuspensionScope asleep;
      virtual_now += 2ms;
    }
    woken = bench.native(0);
  });
  CHECK(woken == (c.demoted ? 0 : own));
  CHECK(bench.native(0) == own);
  CHECK(bench.report(id).oversleeps == 1);
  CHECK(bench.report(id).overruns == 0);
  REQUIRE(heard.size() == 1);
  CHECK(heard[0].kind == TaskEventKind::oversleep);
  CHECK(heard[0].suspended == 2ms);
}

TEST_CASE("a suspension within one is the same and outside a job it is nothing") {
  { const SuspensionScope nobody; }
  Bench bench;
  const TaskId id = bench.admit(sleeping(3ms, OverrunPolicy::demote));
  bench.run(id, [&] {
    const SuspensionScope outer;
    {
      const SuspensionScope inner;
      virtual_now += 2ms;
    }
    virtual_now += 1ms;
  });
  CHECK(bench.report(id).oversleeps == 0);
}

// Error paths.

TEST_CASE("a resource that the contract does not name raises nobody and is counted") {
  Bench bench;
  const TaskId low = bench.admit(task(90ms, {use_of("bus", 100us)}));
  bench.admit(task(10ms, {use_of("journal", 100us)}));
  int inside = 0;
  bench.run(low, [&] {
    CHECK_FALSE(control().enter(journal));
    CHECK_FALSE(control().enter(no_resource));
    inside = bench.native(0);
  });
  CHECK(inside == bench.native(0));
  CHECK(bench.report(low).undeclared_locks == 2);
}

}  // namespace job_control_test
