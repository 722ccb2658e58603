// Tests a core scheduled by deadlines. On a virtual clock, the levels of its tasks' threads follow the deadlines of
// their jobs. On real threads, the job with the earlier deadline preempts the other.
#include <atomic>
#include <map>
#include <random>
#include <thread>
#include <vector>

#include "orb/dispatch/current.h"
#include "orb/dispatch/executive.h"
#include "orb/os/clock.h"
#include "orb/os/machine/topology.h"
#include "tests/orb/dispatch/fixture.h"
#include "tests/support/quiet.h"

using namespace corelane;
using namespace corelane::dispatch;
using namespace corelane::dispatch::test;
using corelane::testing::Quiet;
using namespace std::chrono_literals;

namespace {

constexpr CoreId by_deadline{1};

ExecutiveOptions second_by_deadlines() {
  ExecutiveOptions options = bare_options();
  options.deadline_cores = {by_deadline};
  return options;
}

// Two cores. The one scheduled by priorities is full, so all other tasks go to the one scheduled by deadlines.
class DeadlineCore : public Machine {
 public:
  explicit DeadlineCore(OverrunPolicy policy = OverrunPolicy::report,
                        const ExecutiveOptions& options = second_by_deadlines())
      : Machine(2, options), full(admit(plain(10ms, 9500us))), policy_(policy) {
    pool().watch_budgets(&alarm);
  }
  ~DeadlineCore() { pool().watch_budgets(nullptr); }

  TaskId add(Duration period, Duration budget, Duration deadline = {}) {
    Contract contract = plain(period, budget, deadline);
    contract.on_overrun = policy_;
    const TaskId task = admit(contract);
    REQUIRE(thread_of(task).placement.core == by_deadline);
    return task;
  }
  NoThreads::Made& thread_of(TaskId task) {
    for (const auto& thread : threads.threads)
      if (thread->worker->task() == task) return *thread;
    FAIL("no thread of task " << task.value);
    return *threads.threads[0];
  }
  int level(TaskId task) { return thread_of(task).placement.native; }
  CorePool& pool() { return *manager.pools()[1]; }
  // Starts a job that stays as it is until settle().
  std::shared_ptr<Fate> start(TaskId task) {
    auto fate = send(task);
    decide();
    return fate;
  }
  // Lets the running thread use that much time.
  void use(Duration time) {
    virtual_now += time, virtual_cpu += time;
    if (alarm.due <= virtual_now) pool().check_budget(virtual_now);
  }
  void run(TaskId task, std::function<void()> body) {
    JobPtr job(new ScriptedJob([body = std::move(body)](ScriptedJob&) { body(); }));
    job->task = task;
    job->arrived = virtual_now;
    REQUIRE(manager.submit(job) == Pushed::done);
    decide();
    CHECK(thread_of(task).worker->step(virtual_now));
  }

  class Alarm final : public BudgetAlarm {
   public:
    void set(Time at) noexcept override { due = at; }
    Time due = never;
  } alarm;
  TaskId full;

 private:
  OverrunPolicy policy_;
};

void lose(Machine& machine, CoreId core) {
  machine.provider().revoked.push_back(core);
  for (int i = 0; i < 20; ++i) machine.advance(CoreWatch::period);
}

}  // namespace

TEST_CASE("on a core by deadlines the thread of the earlier deadline has the higher level, whatever its period") {
  DeadlineCore core;
  const TaskId slow = core.add(100ms, 10ms);
  const TaskId fast = core.add(60ms, 10ms);
  core.start(slow);  // deadline: 100 ms
  virtual_now += 50ms;
  core.start(fast);  // deadline: 110 ms
  CHECK(core.level(slow) > core.level(fast));
  core.settle();
  virtual_now += 100ms;
  core.start(slow);
  core.start(fast);
  CHECK(core.level(fast) > core.level(slow));
  core.settle();
  CHECK(core.report(slow).jobs == 2);
  CHECK(core.report(fast).misses == 0);
}

TEST_CASE("a core by deadlines takes more than priorities can serve, and tells worst responses") {
  DeadlineCore core;
  const TaskId first = core.add(10ms, 5ms);
  const TaskId second = core.add(14ms, 6ms);
  CHECK(core.report(first).bound == 7ms);
  CHECK(core.report(second).bound == 11ms);
  CHECK(core.refused(plain(100ms, 10ms)).code == sched::RefusalCode::not_schedulable);
  CHECK(core.manager.report().cores[1].order == sched::CoreOrder::deadline);
  CHECK(core.manager.report().cores[0].order == sched::CoreOrder::priority);
}

TEST_CASE(
    "on a core by deadlines the thread of an early job stands where its deadline is before the job's time comes") {
  DeadlineCore core;
  const TaskId first = core.add(100ms, 10ms), early = core.add(20ms, 2ms), last = core.add(100ms, 10ms);
  core.start(first);
  virtual_now += 80ms;
  SECTION("that came when its task was idle") {
    core.run(early, [] {});
    core.start(early);
  }
  SECTION("that came while the job before it ran") {
    core.run(early, [&] { core.start(early); });
  }
  SECTION("that an overrun has put off") {
    core.run(early, [&] { core.use(3ms); });
    virtual_now += 20ms;
    core.start(early);
  }
  core.start(last);
  CHECK(core.level(first) > core.level(early));
  CHECK(core.level(early) > core.level(last));
  core.settle();
  core.advance(40ms);
  CHECK(core.report(early).jobs == 2);
}

TEST_CASE("a thread that ends a job goes down to its early job's place after what it owes to others") {
  DeadlineCore core(OverrunPolicy::demote);
  const TaskId early = core.add(20ms, 6ms);
  Contract contract = plain(60ms, 2ms);
  contract.suspension = 3ms;
  contract.on_overrun = OverrunPolicy::demote;
  const TaskId sleeper = core.admit(contract), later = core.add(30ms, 2ms);
  std::vector<TaskId> placed;
  core.run(sleeper, [&] {
    const SuspensionScope waits;
    core.run(early, [&] {
      core.start(early);
      core.start(later);  // its deadline is between the deadlines of these two
      virtual_now += 5ms;
      for (const TaskId task : {early, sleeper})
        core.thread_of(task).on_place = [&placed, task] { placed.push_back(task); };
    });
    for (const TaskId task : {early, sleeper}) core.thread_of(task).on_place = {};
  });
  CHECK(placed == std::vector{sleeper, early});
  CHECK(core.level(later) > core.level(early));
}

// When levels are assigned anew, a later job may get a level above the one that the thread still has.
TEST_CASE("a thread that ends a job goes up to its early job's place before later ones do") {
  ExecutiveOptions options = second_by_deadlines();
  options.highest_native = options.lowest_native + 12;
  std::mt19937 random(7);
  int raised = 0, overtaken = 0;
  for (int round = 0; round < 200; ++round) {
    DeadlineCore core(OverrunPolicy::report, options);
    const TaskId ends = core.add(100ms, 4ms);
    std::vector<TaskId> others;
    for (int i = 0; i < 6; ++i) others.push_back(core.add((30 + 10 * static_cast<int>(random() % 30)) * 1ms, 4ms));
    for (std::size_t i = 0; i < 3; ++i) core.start(others[i]);
    std::map<TaskId, int> stood;  // the level of the ending thread when that task's level changed
    core.run(ends, [&] {
      core.start(ends);  // released at 100 ms, deadline at 200 ms
      for (std::size_t i = 0; i < 3; ++i) core.thread_of(others[i]).worker->step(virtual_now);
      for (std::size_t i = 3; i < 6; ++i) core.start(others[i]);
      for (const TaskId other : others)
        core.thread_of(other).on_place = [&, other] { stood[other] = core.level(ends); };
    });
    for (const TaskId other : others) core.thread_of(other).on_place = {};
    for (const auto& [other, level] : stood) {
      raised += core.level(other) > level || core.level(ends) > level;
      overtaken += core.level(ends) > core.level(other) && core.level(other) > level;
    }
  }
  CHECK(raised > 0);
  CHECK(overtaken == 0);
}

TEST_CASE("an early job that comes to a core by deadlines with its task has its place there") {
  const Quiet quiet;
  Machine machine(2, second_by_deadlines());
  const auto placement = [&](TaskId task) {
    for (const auto& thread : machine.threads.threads)
      if (thread->worker->task() == task) return thread->placement;
    return ThreadPlacement{};
  };
  const TaskId moves = machine.admit(plain(20s, 9s));
  const TaskId first = machine.admit(plain(30s, 9s)), last = machine.admit(plain(60s, 9s));
  REQUIRE(placement(moves).core == CoreId{0});
  REQUIRE(placement(first).core == by_deadline);
  REQUIRE(placement(last).core == by_deadline);
  machine.send(moves);
  machine.settle();
  const auto early = machine.send(moves);  // released at 20 s, deadline at 40 s
  machine.settle();
  REQUIRE_FALSE(early->over());
  lose(machine, CoreId{0});
  REQUIRE(placement(moves).core == by_deadline);
  machine.send(first);
  machine.send(last);
  machine.decide();
  CHECK(placement(first).native > placement(moves).native);
  CHECK(placement(moves).native > placement(last).native);
}

TEST_CASE("on a core by deadlines a task that leaves with an early job gives its place back") {
  DeadlineCore core;
  const TaskId leaving = core.add(20ms, 2ms), stays = core.add(100ms, 10ms);
  core.start(stays);
  const int alone = core.level(stays);
  core.settle();
  virtual_now += 100ms;
  core.run(leaving, [] {});
  const auto early = core.start(leaving);
  core.manager.depart(leaving, {});
  core.settle();
  CHECK(early->over());
  core.start(stays);
  CHECK(core.level(stays) == alone);
}

TEST_CASE("the time by which a job exceeds its budget has the place of the task's next job") {
  DeadlineCore core;
  const TaskId rogue = core.add(20ms, 2ms);
  const TaskId other = core.add(30ms, 2ms);
  int before = 0, after = 0;
  core.run(rogue, [&] {
    core.start(other);
    before = core.level(rogue) - core.level(other);
    core.use(2ms);  // its whole budget: from now on its deadline is at 40 ms
    after = core.level(rogue) - core.level(other);
  });
  CHECK(before > 0);
  CHECK(after < 0);
  core.settle();
  const auto next = core.start(rogue);
  core.settle();
  CHECK_FALSE(next->over());  // the release is taken
  core.advance(40ms);
  CHECK(next->context.release >= Time{1s} + 40ms);
}

TEST_CASE("a demoted job of a core by deadlines leaves the levels to the others until it ends") {
  DeadlineCore core(OverrunPolicy::demote);
  const TaskId rogue = core.add(20ms, 2ms);
  int during = -1;
  core.run(rogue, [&] {
    core.use(3ms);
    during = core.level(rogue);
  });
  CHECK(during == 0);
  CHECK(core.report(rogue).overruns == 1);
  core.advance(40ms);
  core.start(rogue);
  CHECK(core.level(rogue) > 0);
}

namespace {

class Source final : public JobSource {
 public:
  explicit Source(PeerId connection = PeerId{1}, bool comes_back = false)
      : connection_(connection), comes_back_(comes_back) {}
  PeerId connection() const noexcept override { return connection_; }
  bool comes_back() const noexcept override { return comes_back_; }
  void opened() noexcept override { ++openings; }
  Found poll(JobPtr&, Time) noexcept override { return Found::nothing; }
  int descriptor() const noexcept override { return -1; }
  Time wake_at() const noexcept override { return never; }
  void lend() noexcept override { ++lendings; }
  void take_back() noexcept override { ++returns; }
  void close() noexcept override { ++closings; }
  int openings = 0, lendings = 0, returns = 0, closings = 0;

 private:
  const PeerId connection_;
  const bool comes_back_;
};

std::shared_ptr<Source> attach(Machine& machine, TaskId task, std::shared_ptr<Source> source) {
  machine.manager.attach(task, {}, source);
  machine.settle();
  return source;
}

std::shared_ptr<Source> attach_source(Machine& machine, TaskId task, PeerId connection = PeerId{1}) {
  return attach(machine, task, std::make_shared<Source>(connection));
}

// Attaches a source as the reactor does with the first bytes that come after take_back().
std::shared_ptr<Source> bring_back(Machine& machine, TaskId task, PeerId connection = PeerId{1}) {
  return attach(machine, task, std::make_shared<Source>(connection, true));
}

// A task on the core scheduled by deadlines has lent its connection. That core is lost, and the other core has room for
// the task.
std::shared_ptr<Source> take_back_source(DeadlineCore& core, TaskId task) {
  auto source = attach_source(core, task);
  core.manager.depart(core.full, {});
  core.settle();
  lose(core, by_deadline);
  REQUIRE(source->lendings == 1);
  REQUIRE(source->returns == 1);
  return source;
}

}  // namespace

TEST_CASE("on a core by deadlines a task lends its own connection, and elsewhere it reads that again") {
  const Quiet quiet;
  DeadlineCore core;
  const TaskId task = core.add(20ms, 2ms);
  const auto lent = attach_source(core, task);
  core.settle();
  CHECK(lent->openings == 1);
  CHECK(lent->lendings == 1);
  CHECK_FALSE(core.report(task).dedicated_connection);
  core.manager.depart(core.full, {});
  core.settle();
  lose(core, by_deadline);
  CHECK(lent->returns == 1);
  const auto again = bring_back(core, task);
  CHECK(again->openings == 1);
  CHECK(again->lendings == 0);
  CHECK(core.report(task).dedicated_connection);
  CHECK(lent->closings == 0);  // it was the same connection
  CHECK(attach_source(core, task, PeerId{2})->closings == 0);
  CHECK(again->closings == 1);
}

TEST_CASE("a newer connection of a task that lends takes the place of the lent one, which is closed") {
  DeadlineCore core;
  const TaskId task = core.add(20ms, 2ms);
  const auto first = attach_source(core, task, PeerId{1});
  REQUIRE(first->lendings == 1);
  const auto second = attach_source(core, task, PeerId{2});
  CHECK(first->closings == 1);
  CHECK(second->openings == 1);
  CHECK(second->lendings == 1);
  CHECK(second->closings == 0);
  SECTION("and is not closed by what comes back of the lent one") {
    const auto late = bring_back(core, task, PeerId{1});
    CHECK(late->openings == 0);
    CHECK(late->closings == 1);
    CHECK(second->closings == 0);
  }
}

TEST_CASE("a connection that was bound while another is taken back stays the task's when that comes") {
  const Quiet quiet;
  DeadlineCore core;
  const TaskId task = core.add(20ms, 2ms);
  const auto lent = take_back_source(core, task);
  const auto newer = attach_source(core, task, PeerId{2});
  CHECK(lent->closings == 1);
  CHECK(newer->openings == 1);
  const auto late = bring_back(core, task, PeerId{1});
  CHECK(late->openings == 0);
  CHECK(late->closings == 1);
  CHECK(newer->closings == 0);
  CHECK(core.report(task).dedicated_connection);
}

TEST_CASE("the bound one of two connections that come before the task looks counts, whichever was first") {
  const Quiet quiet;
  DeadlineCore core;
  const TaskId task = core.add(20ms, 2ms);
  const auto lent = take_back_source(core, task);
  const auto back = std::make_shared<Source>(PeerId{1}, true), bound = std::make_shared<Source>(PeerId{2});
  const bool back_first = GENERATE(true, false);
  core.manager.attach(task, {}, back_first ? back : bound);
  core.manager.attach(task, {}, back_first ? bound : back);
  for (int i = 0; i < 4; ++i) core.manager.step(virtual_now);  // both are attached before the task's thread looks
  core.settle();
  CHECK(bound->openings == 1);
  CHECK(bound->closings == 0);
  CHECK(back->openings == 0);
  CHECK(back->closings == 1);
  CHECK(lent->closings == 1);
}

TEST_CASE("a connection that has come back does not come back again") {
  const Quiet quiet;
  DeadlineCore core;
  const TaskId task = core.add(20ms, 2ms);
  (void)take_back_source(core, task);
  const auto again = bring_back(core, task);
  CHECK(again->openings == 1);
  CHECK(again->closings == 0);
  const auto twice = bring_back(core, task);
  CHECK(twice->closings == 1);
  CHECK(again->closings == 0);
}

TEST_CASE("a task that comes to a core by deadlines lends its own connection") {
  const Quiet quiet;
  DeadlineCore core;
  const auto source = attach_source(core, core.full);
  CHECK(core.report(core.full).dedicated_connection);
  lose(core, CoreId{0});
  CHECK(source->lendings == 1);
  CHECK(source->closings == 0);
}

TEST_CASE("tasks of a core by deadlines that is lost go on by priorities, and the other way round") {
  Quiet quiet;
  const CoreId lost = GENERATE(CoreId{0}, CoreId{1});
  Machine machine(2, second_by_deadlines());
  const TaskId a = machine.admit(plain(10ms, 2ms)), b = machine.admit(plain(20ms, 2ms));
  machine.provider().revoked.push_back(lost);
  virtual_now += CoreWatch::period;
  machine.settle();
  for (const TaskId task : {a, b}) {
    const auto fate = machine.send(task, 1ms);
    machine.settle();
    CHECK(fate->runs == 1);
    CHECK(fate->context.core != lost);
  }
  for (const auto& thread : machine.threads.threads) CHECK(thread->placement.native > 0);
}

TEST_CASE("cores by deadlines that are not leased, or all that are, are refused") {
  Quiet quiet;
  UnguardedCores cores(*os::Topology::detect());
  ExecutiveOptions options;
  options.real_time = false;
  options.deadline_cores = {CoreId{4000}};
  CHECK_FALSE(Executive::start(options, cores));
  options.lease.cores = {(*cores.lease({}))[0].core};
  options.deadline_cores = options.lease.cores;
  const auto all = Executive::start(options, cores);
  REQUIRE_FALSE(all);
  CHECK(all.error().minor == minor::bad_option);
}

TEST_CASE("the real job of the earlier deadline runs before one that would never end without it") {
  Quiet quiet;
  UnguardedCores cores(*os::Topology::detect());
  const auto leases = *cores.lease({.cores = {}, .siblings = true});
  if (leases.size() < 2) {
    std::puts("SKIPPED: a core by deadlines needs a second one by priorities");
    return;
  }
  ExecutiveOptions options;
  options.platform = {};
  options.lease = {.cores = {leases[0].core, leases[1].core}, .siblings = true};
  options.deadline_cores = {leases[1].core};
  auto executive = *Executive::start(options, cores);
  const auto admit = [&](Duration period, Duration budget) {
    return executive->admit_and_wait({.contract = plain(period, budget), .label = "task"})->task;
  };
  (void)admit(10s, 9s);  // fills the core scheduled by priorities
  const TaskId late = admit(20s, 1s), early = admit(15s, 1s);
  std::atomic<bool> begun{false}, over{false}, late_ended{false};
  const auto submit = [&](TaskId task, std::function<void(ScriptedJob&)> body) {
    JobPtr job(new ScriptedJob(std::move(body)));
    job->task = task;
    job->arrived = os::now();
    REQUIRE(executive->submit(job));
  };
  submit(late, [&](ScriptedJob&) {
    begun = true;
    begun.notify_all();
    while (!over) os::spin_pause();  // bound: the other job, which must preempt this one
    late_ended = true;
    late_ended.notify_all();
  });
  begun.wait(false);
  submit(early, [&](ScriptedJob&) { over = true; });
  late_ended.wait(false);
  executive->stop();
  CHECK(over);
}
