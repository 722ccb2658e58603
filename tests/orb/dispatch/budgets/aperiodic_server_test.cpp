// Tests a server that decides the class of its threads: on a virtual clock, then in the admission and in what is
// promised to other processes.
#include "orb/dispatch/budgets/aperiodic_server.h"

#include "orb/base/minor.h"
#include "orb/dispatch/executive.h"
#include "orb/os/machine/topology.h"
#include "tests/orb/dispatch/fixture.h"
#include "tests/support/quiet.h"

namespace aperiodic_server_test {

using namespace corelane;
using namespace corelane::dispatch;
using namespace corelane::dispatch::test;
using namespace std::chrono_literals;

namespace {

constexpr int native = 48;
constexpr sched::Reservation reservation{2ms, 10ms};

class FakeThread final : public ServedThread {
 public:
  void set_native(int to) noexcept override { level = to; }
  Duration cpu_time() const noexcept override { return used; }
  int level = -1;
  Duration used{};
};

class FakeAlarm final : public BudgetAlarm {
 public:
  void set(Time at) noexcept override { due = at; }
  Time due = never;
};

// Two threads under one server, which begins at `start`.
class Served {
 public:
  explicit Served(const sched::Server& what = sched::SporadicServer(reservation),
                  AperiodicServer::Work kind = AperiodicServer::Work::may_sleep)
      : server(what, native, virtual_clock, kind) {
    virtual_now = start;
    server.add(first);
    server.add(second);
    server.watch(&alarm);
  }
  ~Served() { server.watch(nullptr); }

  Time at(Duration since_start) const { return start + since_start; }
  // Lets the thread execute until `until`. The alarm goes off when it is due.
  void execute(FakeThread& thread, Duration until) { pass(until, &thread); }
  void pass(Duration until, FakeThread* running = nullptr) {
    while (alarm.due <= at(until)) {  // bound: the alarm is set for later each time, or not at all
      go(std::max(alarm.due, virtual_now), running);
      alarm.due = never;
      server.check();
    }
    go(at(until), running);
  }

  const Time start{1s};
  FakeThread first, second;
  FakeAlarm alarm;
  AperiodicServer server;

 private:
  static void go(Time to, FakeThread* running) {
    if (running) running->used += to - virtual_now;
    virtual_now = to;
  }
};

}  // namespace

TEST_CASE("threads stay below until their server may begin") {
  Served s;
  s.server.work();
  CHECK(s.first.level == 0);
  s.server.grant();
  CHECK(s.first.level == native);
  CHECK(s.second.level == native);
  CHECK(s.server.status().granted);
}

TEST_CASE("a thread is lowered when its budget is used up and lifted when it is back") {
  Served s;
  s.server.grant();
  s.server.work();
  s.execute(s.first, 1999us);
  CHECK(s.first.level == native);
  s.execute(s.first, 2ms);
  CHECK(s.first.level == 0);
  s.execute(s.first, 9999us);  // in time that others leave: charged to no budget
  CHECK(s.first.level == 0);
  s.execute(s.first, 10ms);
  CHECK(s.first.level == native);
  CHECK(s.server.status().used == 2ms);
  CHECK(s.server.status().exhausted == 1);
}

TEST_CASE("threads that share a server share its budget") {
  Served s;
  s.server.grant();
  s.server.work();
  s.server.work();
  s.execute(s.first, 1500us);
  s.execute(s.second, 2ms);
  CHECK(s.first.level == 0);
  CHECK(s.second.level == 0);
}

TEST_CASE("a thread that is taken out has used what it used, and runs below the tasks") {
  Served s;
  s.server.grant();
  s.server.work();
  s.execute(s.first, 1ms);
  s.server.work();
  s.execute(s.second, 1500us);
  s.server.rest();
  s.server.remove(s.second);
  CHECK(s.server.status().used == 1500us);
  CHECK(s.first.level == native);
  CHECK(s.second.level == 0);
  s.execute(s.second, 5ms);  // charged to no budget
  CHECK(s.server.status().used == 1500us);
  s.server.add(s.second);
  CHECK(s.second.level == native);
  s.execute(s.second, 5500us);
  CHECK(s.second.level == 0);
  CHECK(s.server.status().used == 2ms);
}

TEST_CASE("a thread rests in the class in which its next work may begin") {
  Served s;
  s.server.grant();
  s.server.work();
  s.execute(s.first, 1ms);
  s.server.rest();
  CHECK(s.first.level == native);
  CHECK(s.alarm.due == never);
  s.server.work();
  s.execute(s.first, 2ms);
  s.server.rest();
  CHECK(s.first.level == 0);
  s.pass(9ms);
  CHECK(s.first.level == 0);
  s.pass(10ms);
  CHECK(s.first.level == native);
  CHECK(s.alarm.due == never);
}

TEST_CASE("a thread that was preempted keeps the rest of its budget") {
  Served s;
  s.server.grant();
  s.server.work();
  s.execute(s.first, 1ms);
  s.pass(2500us);                   // preempted
  CHECK(s.alarm.due == s.at(3ms));  // at 2 ms it had 1 ms left
  s.execute(s.first, 3499us);
  CHECK(s.first.level == native);
  s.execute(s.first, 3500us);
  CHECK(s.first.level == 0);
}

TEST_CASE("the budget of a thread that never sleeps returns from when it was usable") {
  for (const auto kind : {AperiodicServer::Work::may_sleep, AperiodicServer::Work::always_runs}) {
    Served s(sched::SporadicServer(reservation), kind);
    s.server.grant();
    s.server.work();
    s.pass(1ms);  // preempted or asleep: the server cannot tell
    s.execute(s.first, 3ms);
    CHECK(s.first.level == 0);
    CHECK(s.alarm.due == s.at(kind == AperiodicServer::Work::may_sleep ? 11ms : 10ms));
  }
}

TEST_CASE("an alarm that comes late is paid by the server") {
  Served s;
  s.server.grant();
  s.server.work();
  s.alarm.due = s.at(3ms);
  s.execute(s.first, 3ms);
  CHECK(s.first.level == 0);
  CHECK(s.alarm.due == s.at(11ms));  // the overrun delays the replenishment by as much
  s.pass(11ms);
  s.execute(s.first, 12ms);
  CHECK(s.first.level == 0);
}

TEST_CASE("a deferrable server keeps its budget until the period ends") {
  Served s(sched::DeferrableServer(reservation, Time{1s}));
  s.server.grant();
  s.pass(8ms);
  s.server.work();
  s.execute(s.first, 12ms);  // 2 ms at the end of one period and 2 ms at the beginning of the next
  CHECK(s.server.status().used == 4ms);
  CHECK(s.first.level == 0);
}

TEST_CASE("an I/O server's thread has the level of its caller") {
  Served s(sched::IoServer(100'000));
  s.server.grant();
  CHECK(s.first.level == native);
  CHECK(s.alarm.due == never);
  s.server.work({80ms, Priority{9}});
  CHECK(s.first.level == 9);
  s.execute(s.first, 8ms);
  CHECK(s.first.level == 0);
  CHECK(s.alarm.due == s.at(80ms));
}

TEST_CASE("threads that are about to end are left as they are") {
  Served s;
  s.server.grant();
  s.server.work();
  s.server.dismiss();
  s.first.used += 5ms;
  virtual_now += 5ms;
  s.server.check();
  s.server.rest();
  CHECK(s.first.level == native);
}

// The server in the manager.

namespace {

ExecutiveOptions with_server(BestEffortServer kind) {
  ExecutiveOptions options = bare_options();
  options.best_effort_server = {.kind = kind, .reservation = reservation, .cores = {}};
  return options;
}

Contract task(Duration period, Duration budget) { return make_contract(period, budget, {}, 0ms); }

}  // namespace

TEST_CASE("admission counts the server of a core as a task above all others") {
  const auto kind = GENERATE(BestEffortServer::none, BestEffortServer::sporadic, BestEffortServer::deferrable);
  Machine machine(1, with_server(kind));
  machine.decide();
  // The response is 4 ms alone, 6 ms below a sporadic server (2, 10), 8 ms below a deferrable one of that size.
  const Duration response = kind == BestEffortServer::none ? 4ms : kind == BestEffortServer::sporadic ? 6ms : 8ms;
  const TaskId admitted = machine.admit(task(9ms, 4ms));
  CHECK(machine.report(admitted).bound == response);
  CHECK(machine.manager.report().cores[0].platform == (kind == BestEffortServer::none ? 0 : 200'000));
}

TEST_CASE("a task that fits beside no server is refused beside one") {
  Machine without(1, with_server(BestEffortServer::none));
  without.admit(task(10ms, 9ms));
  Machine beside(1, with_server(BestEffortServer::sporadic));
  CHECK(beside.refused(task(10ms, 9ms)).code == sched::RefusalCode::not_schedulable);
}

TEST_CASE("tasks stay one level below the server") {
  Machine machine(1, with_server(BestEffortServer::sporadic));
  for (int i = 0; i < 60; ++i) machine.admit(task(100ms + i * 1ms, 100us));
  for (const auto& thread : machine.threads.threads) CHECK(thread->placement.native < native);
}

TEST_CASE("a server begins when it is written down what it may use") {
  Machine machine(2, with_server(BestEffortServer::deferrable));
  machine.provider().busy = true;
  machine.decide();
  CHECK_FALSE(machine.manager.report().best_effort_servers.at(0).granted);
  machine.provider().busy = false;
  machine.advance(1s);
  REQUIRE(machine.provider().mine.size() == 2);
  const Promise& promise = machine.provider().mine[1];
  CHECK(promise.kind == PromiseKind::platform);
  CHECK(promise.core == CoreId{1});
  CHECK(promise.contract.budget == 2ms);
  CHECK(promise.contract.period == 10ms);
  CHECK(promise.contract.jitter == 8ms);
  for (const auto& server : machine.manager.report().best_effort_servers) CHECK(server.granted);
}

TEST_CASE("a server that would make another process's task late waits until that has left") {
  const testing::Quiet quiet;
  Machine machine(2, with_server(BestEffortServer::sporadic));
  machine.provider().others = {{.core = CoreId{0}, .physical_core = 0, .contract = task(10ms, 9ms), .owner = 7}};
  machine.decide();
  auto servers = machine.manager.report().best_effort_servers;
  CHECK_FALSE(servers[0].granted);
  CHECK(servers[1].granted);
  CHECK(machine.provider().mine.size() == 1);
  machine.provider().others.clear();
  machine.advance(1s);
  CHECK(machine.manager.report().best_effort_servers[0].granted);
}

TEST_CASE("a server whose room another process took meanwhile waits like any other") {
  const testing::Quiet quiet;
  Machine machine(1, with_server(BestEffortServer::sporadic));
  machine.provider().conflicts = 1;
  machine.decide();
  machine.provider().others = {{.core = CoreId{0}, .physical_core = 0, .contract = task(10ms, 9ms), .owner = 7}};
  machine.advance(1s);
  CHECK_FALSE(machine.manager.report().best_effort_servers.at(0).granted);
  CHECK(machine.provider().mine.empty());
  machine.provider().others.clear();
  machine.advance(1s);
  CHECK(machine.manager.report().best_effort_servers.at(0).granted);
}

TEST_CASE("a platform's load is promised beside a server's") {
  ExecutiveOptions options = with_server(BestEffortServer::sporadic);
  options.platform = {.budget = 20us, .period = 1ms};
  Machine machine(1, options);
  machine.decide();
  machine.admit(task(10ms, 1ms));
  CHECK(machine.provider().mine.size() == 3);  // the task, the platform, the server
}

TEST_CASE("a reader that is held to a budget counts on every core and in the promise") {
  ExecutiveOptions options = bare_options();
  options.reader = {.budget = 200us, .period = 1ms};
  Machine machine(2, options);
  machine.decide();
  const TaskId admitted = machine.admit(task(10ms, 1ms));
  CHECK(machine.report(admitted).bound == 1400us);  // (200, 1000) occurs twice in that time
  for (const CoreReport& core : machine.manager.report().cores) CHECK(core.platform == 200'000);
  REQUIRE(machine.provider().mine.size() == 2);
  CHECK(machine.provider().mine[1].kind == PromiseKind::platform);
  CHECK(machine.provider().mine[1].contract.budget == 200us);
}

TEST_CASE("a reader that is held to a budget by I/O servers counts with a release jitter") {
  ExecutiveOptions options = bare_options();
  options.reader = {.budget = 200us, .period = 1ms};
  options.reader_server = sched::ReaderServer::io;
  Machine machine(1, options);
  machine.decide();
  const TaskId admitted = machine.admit(task(10ms, 1ms));
  CHECK(machine.report(admitted).bound == 1600us);  // (200, 1000) with jitter 900 occurs three times in that time
  REQUIRE(machine.provider().mine.size() == 2);
  CHECK(machine.provider().mine[1].contract.jitter == 900us);
}

// Error paths.

TEST_CASE("a server of best effort that makes no sense is refused") {
  const testing::Quiet quiet;
  UnguardedCores cores(*os::Topology::detect());
  ExecutiveOptions options;
  options.best_effort_server.kind = BestEffortServer::sporadic;
  SECTION("more than a core") { options.best_effort_server.reservation = {11ms, 10ms}; }
  SECTION("no budget") { options.best_effort_server.reservation = {0ms, 10ms}; }
  SECTION("a core that is not leased") { options.best_effort_server.cores = {CoreId{32'000}}; }
  SECTION("no level left for tasks") { options.highest_native = options.lowest_native + 1; }
  SECTION("a mode without promises") { options.mode = DispatchMode::leader_followers; }
  const auto started = Executive::start(options, cores);
  REQUIRE_FALSE(started);
  CHECK(started.error().minor == minor::bad_option);
}

TEST_CASE("without real time a server is left out") {
  const testing::Quiet quiet;
  UnguardedCores cores(*os::Topology::detect());
  ExecutiveOptions options;
  options.real_time = false;
  options.best_effort_server.kind = BestEffortServer::sporadic;
  const auto started = Executive::start(options, cores);
  REQUIRE(started);
  CHECK((*started)->snapshot().best_effort_servers.empty());
}

}  // namespace aperiodic_server_test
