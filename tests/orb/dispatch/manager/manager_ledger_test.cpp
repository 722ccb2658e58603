// Tests the manager beside other processes: how it counts their promises, and which promises it writes.
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

#include "orb/base/minor.h"
#include "orb/dispatch/manager/manager_agent.h"
#include "orb/dispatch/worst_slowdowns.h"
#include "tests/orb/dispatch/fixture.h"

using namespace corelane;
using namespace corelane::dispatch;
using namespace corelane::dispatch::test;
using namespace std::chrono_literals;
using sched::RefusalCode;

TEST_CASE("others' promises count on the core they are on") {
  Machine machine(2);
  machine.provider().others = {{.core = CoreId{0}, .physical_core = 0, .contract = plain(10ms, 6ms), .owner = 3}};
  CHECK(machine.admit(plain(10ms, 6ms)) != no_task);
  CHECK(machine.threads.threads[0]->placement.core == CoreId{1});
  CHECK(machine.refused(plain(10ms, 6ms)).code == RefusalCode::not_schedulable);
  CHECK(machine.manager.report().cores[0].others == 600'000);
  machine.provider().others.clear();
  machine.admit(plain(10ms, 6ms));
}

TEST_CASE("a refusal names what holds the core in parts, and the jitter that its response contains") {
  ExecutiveOptions options = bare_options();
  options.platform = {.budget = 30us, .period = 1ms};
  Machine machine(1, options);
  machine.admit(plain(10ms, 1ms));
  machine.provider().others = {{.core = CoreId{0}, .physical_core = 0, .contract = plain(10ms, 5ms), .owner = 3},
                               {.core = CoreId{0},
                                .physical_core = 0,
                                .contract = plain(10ms, 200us),
                                .owner = 3,
                                .kind = PromiseKind::platform}};
  const auto refusal = machine.refused(make_contract(10ms, 6ms, {}, 1ms));
  CHECK(refusal.others == 520'000);
  CHECK(refusal.others_platform == 20'000);
  CHECK(refusal.platform == 30'000);
  CHECK(refusal.tasks == 100'000);
  CHECK(refusal.loser == no_task);
  CHECK(refusal.jitter == 1ms);
}

TEST_CASE("a refusal names the jitter of the task whose deadline would be missed") {
  Machine machine;
  const TaskId resident = machine.admit(make_contract(100ms, 10ms, 16ms, 2ms));
  const auto refusal = machine.refused(make_contract(10ms, 3ms, {}, 1ms));
  CHECK(refusal.loser == resident);
  CHECK(refusal.jitter == 2ms);
}

TEST_CASE("a refusal says what other processes hold of the core and whose deadline would be missed there") {
  Machine machine;
  machine.provider().others = {{.core = CoreId{0}, .physical_core = 0, .contract = plain(10ms, 6ms), .owner = 3}};
  CHECK(machine.refused(plain(10ms, 6ms)).others == 600'000);
  machine.provider().others[0].contract = plain(1s, 1ms);
  const auto mine = machine.ask(plain(100ms, 10ms, 14ms), {}, "Plant/step");
  machine.decide();
  REQUIRE(mine->admission);
  const sched::Refusal refusal = machine.refused(plain(10ms, 3ms));
  CHECK(refusal.others == 1000);
  CHECK(refusal.loser == mine->admission->task);
  CHECK(std::string(refusal.loser_name.data()) == "Plant/step");
}

TEST_CASE("a refusal says which slowdown has lengthened the budget of the task whose deadline would be missed") {
  ExecutiveOptions options = bare_options();
  options.slowdowns =
      std::make_shared<const WorstSlowdowns>(std::vector<WorstSlowdowns::Pair>{{"Plant/step", "load", 1'500'000}});
  Machine machine(2, options);
  machine.admit(plain(10ms, 9ms));
  const auto mine = machine.ask(plain(100ms, 8ms, 14ms), {}, "Plant/step");
  machine.decide();
  REQUIRE(mine->admission);
  const sched::Refusal refusal = machine.refused(plain(10ms, 3ms));
  CHECK(refusal.loser == mine->admission->task);
  CHECK(refusal.slowed == sched::SlowedBudget{});
  CHECK(refusal.loser_slowed.asked == 8ms);
  CHECK(refusal.loser_slowed.analyzed == 12ms);
  CHECK(refusal.loser_slowed.factor == 1'500'000);
  CHECK(std::string(refusal.loser_slowed.beside.data()) == "load");
}

TEST_CASE("no task is admitted on a core that turns out to be promised twice, until it is not") {
  Machine machine;
  const TaskId ours = machine.admit(plain(10ms, 6ms));
  machine.provider().others = {{.core = CoreId{0}, .physical_core = 0, .contract = plain(10ms, 6ms), .owner = 3}};
  CHECK(machine.refused(plain(1s, 1us)).code == RefusalCode::not_schedulable);
  machine.manager.depart(ours, {});
  machine.advance(1ms);
  machine.advance(10ms);  // until what the task left behind is over
  machine.admit(plain(1s, 1us));
}

TEST_CASE("a new task that would make another process late is refused though the utilization fits") {
  Machine machine;
  machine.provider().others = {
      {.core = CoreId{0}, .physical_core = 0, .contract = plain(10ms, 1ms, 1500us), .owner = 3}};
  const sched::Refusal refusal = machine.refused(plain(100ms, 1ms));
  CHECK(refusal.code == RefusalCode::other_process_late);
  CHECK(refusal.closest == CoreId{0});
  CHECK_FALSE(refusal.nearest.found());
  machine.admit(plain(100ms, 500us));
}

TEST_CASE("beside other processes a refusal proposes nothing that was not checked with them") {
  Machine machine;
  machine.provider().others = {{.core = CoreId{0}, .physical_core = 0, .contract = plain(10ms, 6ms), .owner = 3}};
  const sched::Refusal refusal = machine.refused(plain(10ms, 6ms));
  CHECK(refusal.code == RefusalCode::not_schedulable);
  CHECK_FALSE(refusal.nearest.found());
  CHECK(refusal.unproposed == sched::Unproposed::beside_others);
}

TEST_CASE("a promise says what the process runs above its tasks there and on the manager's core") {
  ExecutiveOptions options = bare_options();
  options.platform = {.budget = 20us, .period = 1ms, .jitter = 1us, .blocking = 5us};
  Machine machine(3, options);
  machine.provider().others = {{.core = CoreId{0}, .physical_core = 0, .contract = plain(10ms, 5ms), .owner = 3}};
  machine.admit(plain(10ms, 1ms));
  const std::vector<Promise>& mine = machine.provider().mine;
  REQUIRE(mine.size() == 3);
  CHECK(mine[0].kind == PromiseKind::task);
  CHECK(mine[0].core == CoreId{1});
  CHECK(mine[0].levels == 47);
  for (std::size_t i = 1; i < 3; ++i) {
    CHECK(mine[i].kind == PromiseKind::platform);
    CHECK(mine[i].core == CoreId{static_cast<std::int16_t>(i - 1)});
    CHECK(mine[i].contract.budget == 20us);
    CHECK(mine[i].contract.period == 1ms);
    CHECK(mine[i].blocking == 5us);
  }
}

TEST_CASE("another process's platform load delays our tasks") {
  Machine machine;
  machine.provider().others = {{.core = CoreId{0},
                                .physical_core = 0,
                                .contract = {.period = 1ms, .deadline = 1ms, .budget = 100us},
                                .owner = 3,
                                .kind = PromiseKind::platform,
                                .blocking = 50us}};
  const auto answer = machine.ask(plain(10ms, 800us));
  machine.decide();
  REQUIRE(answer->admission);
  CHECK(answer->admission->bound == 50us + 100us + 800us);
}

TEST_CASE("our platform load counts where it would make another process late") {
  ExecutiveOptions options = bare_options();
  options.platform = {.budget = 600us, .period = 10ms};
  Machine machine(2, options);
  // The first task would go to core 1, but from then on our manager would run on core 0.
  machine.provider().others = {
      {.core = CoreId{0}, .physical_core = 0, .contract = plain(10ms, 1ms, 1500us), .owner = 3}};
  CHECK(machine.refused(plain(100ms, 1ms)).code == RefusalCode::other_process_late);
  machine.provider().others[0].contract = plain(10ms, 1ms, 1600us);
  machine.admit(plain(100ms, 1ms));
  CHECK(machine.threads.threads[0]->placement.core == CoreId{1});
}

TEST_CASE("capacity that a departed task still affects stays promised until other processes' tasks are done with it") {
  Machine machine;
  machine.provider().others = {{.core = CoreId{0}, .physical_core = 0, .contract = plain(50ms, 1ms), .owner = 3}};
  const TaskId id = machine.admit(plain(10ms, 1ms));
  machine.manager.depart(id, {});
  machine.advance(1ms);
  CHECK(machine.provider().mine.size() == 1);
  CHECK(machine.manager.wake_at() <= virtual_now + 50ms);
  machine.advance(48ms);
  CHECK(machine.provider().mine.size() == 1);
  machine.advance(2ms);
  CHECK(machine.provider().mine.empty());
  CHECK(machine.manager.wake_at() == never);
}

TEST_CASE("the manager sleeps while another process keeps it from giving back what lingers") {
  Machine machine;
  machine.provider().others = {{.core = CoreId{0}, .physical_core = 0, .contract = plain(50ms, 1ms), .owner = 3}};
  const TaskId id = machine.admit(plain(10ms, 1ms));
  machine.manager.depart(id, {});
  machine.advance(1ms);
  machine.provider().busy = true;
  machine.advance(60ms);
  CHECK(machine.manager.wake_at() > virtual_now);
  machine.provider().busy = false;
  machine.advance(LedgerClient::longest_retry);
  CHECK(machine.provider().mine.empty());
}

TEST_CASE("a ledger that stays broken is asked less and less often") {
  Machine machine;
  const TaskId id = machine.admit(plain(10ms, 1ms));
  machine.provider().broken = true;
  machine.manager.depart(id, {});
  machine.settle();
  machine.provider().begun = 0;
  const Time until = virtual_now + 2s;
  while (virtual_now < until) {  // bound: wake_at() moves on with each try
    REQUIRE(machine.manager.wake_at() > virtual_now);
    virtual_now = machine.manager.wake_at();
    machine.settle();
  }
  CHECK(machine.provider().begun > 10);
  CHECK(machine.provider().begun < 40);
  machine.provider().broken = false;
  machine.advance(LedgerClient::longest_retry);
  CHECK(machine.provider().mine.empty());
}

TEST_CASE("a promise that waits to be written does not delay a new task") {
  Machine machine;
  const TaskId id = machine.admit(plain(10ms, 1ms));
  machine.provider().busy = true;
  machine.manager.depart(id, {});
  for (int i = 0; i < 10; ++i) machine.advance(LedgerClient::longest_retry);  // the waits between tries have grown
  machine.provider().busy = false;
  const auto answer = machine.ask(plain(10ms, 1ms));
  machine.decide();
  CHECK(answer->admission);
}

TEST_CASE("no task is moved for a new task beside a process that has promised nothing yet") {
  Machine machine(2);
  machine.provider().others_promise = true;
  for (const Duration budget : {30ms, 30ms, 10ms, 10ms}) machine.admit(plain(100ms, budget));
  CHECK(machine.refused(plain(100ms, 75ms)).code == RefusalCode::not_schedulable);
}

TEST_CASE("no task is moved for a new task beside other processes") {
  Machine machine(2);
  for (const Duration budget : {30ms, 30ms, 10ms, 10ms}) machine.admit(plain(100ms, budget));
  machine.provider().others = {{.core = CoreId{0}, .physical_core = 0, .contract = plain(1s, 1us), .owner = 3}};
  CHECK(machine.refused(plain(100ms, 75ms)).code == RefusalCode::not_schedulable);
  machine.provider().others.clear();
  const auto answer = machine.ask(plain(100ms, 75ms));
  machine.settle();
  CHECK(answer->admission);
}

TEST_CASE("every admission and every departure is written down") {
  Machine machine(2);
  const TaskId a = machine.admit(plain(10ms, 6ms));
  machine.admit(plain(20ms, 6ms));
  REQUIRE(machine.provider().mine.size() == 2);
  CHECK(machine.provider().mine[0].contract == plain(10ms, 6ms));
  machine.manager.depart(a, {});
  machine.advance(1ms);
  REQUIRE(machine.provider().mine.size() == 1);
  CHECK(machine.provider().mine[0].contract == plain(20ms, 6ms));
}

TEST_CASE("while another process decides, new tasks wait and jobs go on") {
  Machine machine;
  const TaskId id = machine.admit(plain(10ms, 1ms));
  machine.provider().busy = true;
  const auto answer = machine.ask(plain(10ms, 1ms));
  const auto fate = machine.send(id);
  machine.settle();
  CHECK(fate->runs == 1);
  CHECK(answer->calls == 0);
  CHECK(machine.manager.wake_at() == virtual_now + LedgerClient::retry_period);
  machine.provider().busy = false;
  machine.advance(LedgerClient::retry_period);
  CHECK(answer->admission);
}

TEST_CASE("a new task does not wait for ever for the ledger") {
  Machine machine;
  machine.provider().busy = true;
  const auto answer = machine.ask(plain(10ms, 1ms));
  machine.decide();
  machine.advance(AdmissionControl::patience);
  REQUIRE(answer->error);
  CHECK(*answer->error == Error{.kind = ErrorKind::transient, .minor = minor::ledger_busy});
}

TEST_CASE("a new task whose promise came too late is decided anew") {
  Machine machine;
  machine.provider().conflicts = 3;
  const auto answer = machine.ask(plain(10ms, 1ms));
  machine.decide();
  CHECK(answer->calls == 0);
  while (machine.provider().conflicts > 0) {  // bound: each advance allows a try, and each try takes a conflict
    CHECK(machine.manager.wake_at() > virtual_now);
    machine.advance(LedgerClient::longest_retry);
  }
  machine.advance(LedgerClient::longest_retry);
  CHECK(answer->admission);
  CHECK(machine.provider().mine.size() == 1);
  CHECK(machine.manager.report().cores.front().tasks == 1);
}

TEST_CASE("a new task whose promise always comes too late is told so in the end") {
  Machine machine;
  machine.provider().conflicts = 1'000'000;
  const auto answer = machine.ask(plain(10ms, 1ms));
  const Time until = virtual_now + AdmissionControl::patience;
  while (virtual_now <= until) machine.advance(LedgerClient::longest_retry);
  REQUIRE(answer->error);
  CHECK(answer->error->minor == minor::ledger_busy);
}

TEST_CASE("capacity that cannot be recorded is not promised") {
  Machine machine;
  machine.provider().broken = true;
  const auto answer = machine.ask(plain(10ms, 6ms));
  machine.settle();
  REQUIRE(answer->error);
  CHECK(machine.manager.report().tasks.empty());
  CHECK(machine.threads.threads.empty());
  machine.provider().broken = false;
  machine.advance(1ms);
  machine.admit(plain(10ms, 6ms));
}

// Two jobs of the task fall into the other process's window. If each is demoted at the beginning of a section, they
// take 1 + 2 (C + L) = 41 ms. A contract cut to D would give 1 + 2 D = 23 ms, and 33 ms with 10 ms of blocking once.
TEST_CASE(
    "the time that a demoted job needs to end its section counts for other processes' tasks, though it is past its "
    "deadline") {
  Machine machine;
  Contract contract = plain(20500us, 10ms, 11ms);
  contract.on_overrun = OverrunPolicy::demote;
  contract.uses[0] = {ResourceId{1}, 10ms};
  machine.provider().others = {
      {.core = CoreId{0}, .physical_core = 0, .contract = plain(100ms, 1ms, 35ms), .owner = 3}};
  CHECK(machine.refused(contract).code == RefusalCode::other_process_late);
  machine.provider().others[0].contract = plain(2s, 1ms);
  const TaskId task = machine.admit(contract);
  Duration promised{};
  for (const Promise& promise : machine.provider().mine) promised += promise.contract.budget;
  CHECK(promised == 20ms);
  machine.manager.depart(task, {});
  machine.advance(1ms);
  CHECK(machine.provider().mine.size() == 2);  // both promises remain for now
  machine.advance(2s);
  CHECK(machine.provider().mine.empty());
}
