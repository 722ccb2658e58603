// Tests the loss of a leased core: how it is noticed, where its tasks go, and what the tasks that must leave are told.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>

#include "orb/dispatch/leases/core_watch.h"
#include "orb/dispatch/manager/manager_agent.h"
#include "orb/os/clock.h"
#include "tests/orb/dispatch/fixture.h"
#include "tests/support/quiet.h"

namespace core_loss_test {

using namespace corelane;
using namespace corelane::dispatch;
using namespace corelane::dispatch::test;
using corelane::testing::Quiet;
using namespace std::chrono_literals;
using sched::RefusalCode;

namespace {

constexpr CoreId first{0}, second{1};

Contract important(Duration budget, std::int16_t importance) {
  Contract contract = plain(100ms, budget);
  contract.importance = importance;
  return contract;
}

// Returns the options of a machine whose first core has this order.
ExecutiveOptions with_first(sched::CoreOrder order) {
  ExecutiveOptions options = bare_options();
  if (order != sched::CoreOrder::priority) options.deadline_cores = {first};
  if (order == sched::CoreOrder::served) options.served_cores = {first};
  return options;
}

// Lets the loss be noticed and decided. No task's thread is stepped.
void lose(Machine& machine, CoreId core) {
  machine.provider().revoked.push_back(core);
  virtual_now += CoreWatch::period;
  machine.decide();  // the housekeeper notices
  machine.decide();
}

// Two cores. Core 0 has two tasks, of 40 % and 30 %. Core 1 has one task of 50 %, and room for one of the other two.
struct Losing {
  Quiet quiet;
  Machine machine;
  TaskId keeps = machine.admit(important(40ms, 5));
  TaskId stays = machine.admit(important(50ms, 0));
  TaskId goes = machine.admit(important(30ms, 1));

  explicit Losing(const ExecutiveOptions& options = bare_options()) : machine(2, options) {
    REQUIRE(placement_of(keeps) == first);
    REQUIRE(placement_of(stays) == second);
    REQUIRE(placement_of(goes) == first);
  }
  NoThreads::Made& thread_of(TaskId task) {
    for (const auto& thread : machine.threads.threads)
      if (thread->worker->task() == task) return *thread;
    FAIL("no thread of task " << task.value);
    return *machine.threads.threads[0];
  }
  CoreId placement_of(TaskId task) { return thread_of(task).placement.core; }
  void revoke(CoreId core) { lose(machine, core); }
};

bool nothing_is_usable = false;
bool usable(CoreId core) noexcept { return core == first && !nothing_is_usable; }

}  // namespace

TEST_CASE("when a core is taken back, its important tasks move with their threads, and the others leave") {
  Losing m;
  m.revoke(first);
  m.machine.settle();
  CHECK(m.placement_of(m.keeps) == second);
  CHECK(m.thread_of(m.goes).ended);
  CHECK(m.machine.report(m.goes).gone);
  const auto fate = m.machine.send(m.keeps);
  m.machine.settle();
  CHECK(fate->runs == 1);
  CHECK(fate->context.core == second);
  CHECK(m.machine.manager.report().cores[0].lost);
  CHECK_FALSE(m.machine.manager.report().cores[1].lost);
}

TEST_CASE("tasks on a core that takes tasks of a lost core may respond later, and their report says so") {
  Losing m;
  const auto longest = [&] { return std::max(m.machine.report(m.stays).bound, m.machine.report(m.keeps).bound); };
  const Duration before = longest();
  m.revoke(first);
  m.machine.settle();
  CHECK(longest() > before);
}

TEST_CASE("a call to a task that left with its core is refused with the reason") {
  Losing m;
  m.revoke(first);
  m.machine.settle();
  const auto fate = m.machine.send(m.goes);
  m.machine.settle();
  REQUIRE(fate->over());
  CHECK(fate->refusal.code == RefusalCode::core_lost);
}

TEST_CASE("a job that waits when its task has to leave is told why and one that runs ends") {
  Losing m;
  const auto runs = m.machine.send(m.goes);
  m.machine.decide();
  const auto waits = m.machine.send(m.goes);  // an early job
  m.machine.decide();
  m.revoke(first);
  CHECK(waits->over());
  CHECK(waits->refusal.code == RefusalCode::core_lost);
  m.machine.settle();
  CHECK(runs->runs == 1);
  CHECK(m.thread_of(m.goes).ended);
}

TEST_CASE("a task that must end leaves its lost core, even if the only job that ran there has moved away") {
  Losing m(with_first(GENERATE(sched::CoreOrder::priority, sched::CoreOrder::deadline, sched::CoreOrder::served)));
  m.machine.admit(plain(100ms, 15ms));  // now the second core has room for the smaller, less important task alone
  const auto runs = m.machine.send(m.goes);
  m.machine.decide();
  m.revoke(first);
  CHECK(m.placement_of(m.goes) == second);
  m.machine.settle();
  CHECK(runs->runs == 1);
  CHECK(m.machine.report(m.keeps).gone);
  CHECK(m.thread_of(m.keeps).ended);
  CHECK_FALSE(m.machine.report(m.goes).gone);
}

TEST_CASE("a job that is ready when the core is lost ends and the next one runs on the new core") {
  Losing m;
  const auto ready = m.machine.send(m.keeps);
  m.machine.decide();
  m.revoke(first);
  CHECK(m.placement_of(m.keeps) == second);  // the task's thread moves at once
  const auto next = m.machine.send(m.keeps);
  m.machine.settle();
  m.machine.advance(100ms);
  CHECK(ready->runs == 1);
  CHECK(next->runs == 1);
  m.machine.advance(100ms);
  const auto last = m.machine.send(m.keeps);
  m.machine.settle();
  CHECK(last->context.core == second);
}

TEST_CASE("a task may leave while a job of it still runs from before its core was lost") {
  Losing m;
  const auto ready = m.machine.send(m.keeps);
  m.machine.decide();
  m.revoke(first);
  m.machine.manager.depart(m.keeps, {});
  m.machine.decide();
  CHECK_FALSE(m.thread_of(m.keeps).ended);
  m.machine.settle();
  CHECK(ready->runs == 1);
  CHECK(m.thread_of(m.keeps).ended);
  m.machine.advance(100ms);
  m.machine.admit(plain(100ms, 40ms));  // the departed task's bandwidth is free again
}

TEST_CASE("a task may be moved on while a job of it still runs from before its core was lost") {
  Quiet quiet;
  Machine machine(3);
  const TaskId moves = machine.admit(plain(100ms, 20ms));  // core 0
  machine.admit(plain(100ms, 60ms));                       // core 1
  machine.admit(plain(100ms, 50ms));                       // core 2
  const auto ready = machine.send(moves);
  machine.decide();
  lose(machine, first);
  REQUIRE(machine.threads.threads[0]->placement.core == CoreId{2});  // 70 % of that core are promised now
  const auto candidate = machine.ask(plain(100ms, 40ms));            // fits once that task has moved on to core 1
  machine.decide();
  CHECK(candidate->calls == 0);
  machine.settle();
  machine.advance(100ms);
  CHECK(ready->runs == 1);
  CHECK(candidate->admission);
  CHECK(machine.threads.threads[0]->placement.core == CoreId{1});
}

TEST_CASE("when the last core is lost all tasks leave, and new tasks are told that there is no core") {
  Losing m;
  m.revoke(first);
  m.revoke(second);
  m.machine.settle();
  for (const TaskReport& task : m.machine.manager.report().tasks) CHECK(task.gone);
  CHECK(m.machine.refused(plain(100ms, 1ms)).code == RefusalCode::no_core);
}

TEST_CASE("the promises no longer name a lost core") {
  Losing m;
  m.revoke(first);
  m.machine.settle();
  m.machine.advance(1s);
  for (const Promise& promise : m.machine.provider().mine) CHECK(promise.core == second);
}

// With other servers on the host.

TEST_CASE("the tasks of a lost core go elsewhere inside a transaction that has claimed our cores") {
  Losing m;
  auto& provider = m.machine.provider();
  provider.busy = true;  // another server is in a transaction
  m.revoke(first);
  const auto candidate = m.machine.ask(plain(100ms, 20ms));
  m.machine.decide();
  CHECK(m.placement_of(m.keeps) == first);
  CHECK(candidate->calls == 0);
  CHECK(m.machine.manager.wake_at() <= virtual_now + LedgerClient::longest_retry);
  provider.busy = false;
  virtual_now += LedgerClient::longest_retry;
  m.machine.manager.step(virtual_now);
  CHECK(provider.claims == 1);
  CHECK(m.placement_of(m.keeps) == second);
  const auto on_second = std::count_if(provider.mine.begin(), provider.mine.end(),
                                       [](const Promise& promise) { return promise.core == second; });
  CHECK(on_second == 2);  // written in the same transaction
  m.machine.settle();
  CHECK(candidate->calls == 1);
}

TEST_CASE("a server that came between a claim and its writing lets a lost core's tasks wait") {
  Losing m;
  m.machine.provider().conflicts = 1;
  m.revoke(first);
  CHECK(m.placement_of(m.keeps) == first);
  m.machine.advance(LedgerClient::longest_retry);
  CHECK(m.placement_of(m.keeps) == second);
}

TEST_CASE("a task of a lost core goes nowhere where it would make another server's task late") {
  Losing m;
  m.machine.provider().others = {{.core = second, .physical_core = 1, .contract = plain(100ms, 1ms, 52ms), .owner = 3}};
  m.revoke(first);
  m.machine.settle();
  CHECK(m.machine.report(m.keeps).gone);
  CHECK(m.machine.report(m.goes).gone);
  CHECK_FALSE(m.machine.report(m.stays).gone);
}

TEST_CASE("when nothing can be written in time the tasks of a lost core end") {
  Losing m;
  m.machine.provider().broken = true;
  m.revoke(first);
  CHECK(m.placement_of(m.keeps) == first);
  m.machine.advance(AdmissionControl::patience);
  CHECK(m.machine.report(m.keeps).gone);
  CHECK_FALSE(m.machine.report(m.stays).gone);
}

// Noticing the loss.

TEST_CASE("a core that was usable and is no more is reported once") {
  Quiet quiet;
  os::Parker parker;
  NoteInbox inbox(4, parker);
  FakeProvider provider;
  nothing_is_usable = false;
  CoreWatch watch({{.core = first}, {.core = second}}, provider, inbox, usable);
  CHECK_FALSE(watch.step(Time{1s}));  // the second core was never usable, so it is not watched
  nothing_is_usable = true;
  CHECK_FALSE(watch.step(Time{2s} - CoreWatch::patience));
  CHECK(watch.step(Time{2s}));
  CHECK_FALSE(watch.step(Time{3s}));
  std::vector<Note> notes;
  inbox.drain(notes);
  REQUIRE(notes.size() == 1);
  const auto* lost = std::get_if<sched::CoreLost>(&notes[0]);
  REQUIRE(lost);
  CHECK(lost->core == first);
  CHECK(lost->at == Time{2s});
}

TEST_CASE("a core that is back within the patience was not lost") {
  Quiet quiet;
  os::Parker parker;
  NoteInbox inbox(4, parker);
  FakeProvider provider;
  nothing_is_usable = false;
  CoreWatch watch({{.core = first}}, provider, inbox, usable);
  CHECK_FALSE(watch.step(Time{1s}));
  for (const Time gone : {Time{2s}, Time{3s}}) {
    nothing_is_usable = true;
    CHECK_FALSE(watch.step(gone));
    CHECK_FALSE(watch.step(gone + CoreWatch::patience - 1ns));
    nothing_is_usable = false;
    CHECK_FALSE(watch.step(gone + CoreWatch::patience));
  }
}

TEST_CASE("this thread may run on its core and on none that is not there") {
  CHECK(os::may_run_on(os::current_core()));
  CHECK_FALSE(os::may_run_on(CoreId{8000}));
  CHECK_FALSE(os::bind_this_thread(CoreId{8000}));
}

TEST_CASE("a core that is unplugged is noticed") {
  const char* name = std::getenv("CORELANE_UNPLUG");
  if (name == nullptr) {
    std::puts("SKIPPED: unplugs a core of the machine, which needs root: CORELANE_UNPLUG=<number of a core>");
    return;
  }
  Quiet quiet;
  const CoreId core{static_cast<std::int16_t>(std::atoi(name))};
  const std::string file = "/sys/devices/system/cpu/cpu" + std::string(name) + "/online";
  os::Parker parker;
  NoteInbox inbox(4, parker);
  FakeProvider provider;
  CoreWatch watch({{.core = core}}, provider, inbox);
  REQUIRE_FALSE(watch.step(os::now()));
  REQUIRE(std::ofstream(file) << "0" << std::flush);
  watch.step(os::now());
  const bool noticed = watch.step(os::now() + CoreWatch::patience);
  REQUIRE(std::ofstream(file) << "1" << std::flush);
  CHECK(noticed);
}

}  // namespace core_loss_test
