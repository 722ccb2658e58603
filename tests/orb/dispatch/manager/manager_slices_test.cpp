// Tests the order of the manager's work. Requests of admitted tasks come before analyses, which continue slice by slice
// in between. Analyses run below the tasks, except for first slices, which may use the manager's own time.
#include <catch2/catch.hpp>

#include "orb/base/minor.h"
#include "orb/base/peer.h"
#include "orb/dispatch/manager/manager_agent.h"
#include "tests/orb/dispatch/fixture.h"

using namespace corelane;
using namespace corelane::dispatch;
using namespace corelane::dispatch::test;
using namespace std::chrono_literals;
using sched::RefusalCode;

namespace {

ExecutiveOptions roomy() {
  ExecutiveOptions options = bare_options();
  options.max_tasks = 1100;
  return options;
}

// 1000 tasks on 64 cores, each filled to 60 %.
struct Crowd {
  Machine machine{64, roomy()};
  std::vector<TaskId> tasks;
  std::size_t next = 0;

  Crowd() {
    for (int i = 0; i < 1000; ++i) tasks.push_back(machine.admit(plain(100ms, 3840us)));
    machine.settle();
  }
  // Sends a job to the next task. Returns whether its thread has the job after one step of the manager.
  bool dispatches_at_once() {
    const auto fate = machine.send(tasks[next]);
    machine.manager.step(virtual_now);
    machine.threads.threads[next++]->worker->step(virtual_now);
    return fate->runs == 1;
  }
};

}  // namespace

TEST_CASE("while a repacking of a thousand tasks is analysed each request is dispatched before the next slice") {
  Crowd crowd;
  Machine& machine = crowd.machine;
  const auto candidate = machine.ask(plain(100ms, 45ms));
  machine.manager.step(virtual_now);
  const int begun = machine.provider().begun;
  int slices = 0;
  for (; machine.provider().begun == begun; ++slices) {  // until it is decided
    REQUIRE(crowd.dispatches_at_once());
    machine.manager.below().step(virtual_now);
  }
  CHECK(slices > 50);
  machine.settle();
  CHECK(candidate->admission);
}

TEST_CASE("while what would fit is looked for each request is dispatched before the next slice") {
  Crowd crowd;
  const auto candidate = crowd.machine.ask(plain(100ms, 96ms));
  int slices = 0;
  for (; candidate->calls == 0; ++slices) {
    REQUIRE(crowd.dispatches_at_once());
    crowd.machine.manager.below().step(virtual_now);
  }
  CHECK(slices > 20);
  REQUIRE(candidate->refusal);
  CHECK(candidate->refusal->nearest.found());
}

TEST_CASE("an analysis that takes more than a slice goes on below the tasks alone") {
  Crowd crowd;
  Machine& machine = crowd.machine;
  const auto candidate = machine.ask(plain(100ms, 45ms));
  const auto behind = machine.ask(plain(100ms, 1ms));
  int steps = 0;
  while (machine.manager.step(virtual_now)) REQUIRE(++steps < 10);
  CHECK(machine.manager.wake_at() == never);
  CHECK(candidate->calls == 0);
  CHECK(behind->calls == 0);
  while (machine.manager.below().step(virtual_now)) continue;
  machine.settle();
  CHECK(candidate->admission);
  CHECK(behind->admission);
}

TEST_CASE("the search for a contract that fits, and for exact bounds, runs only below the tasks") {
  Machine machine;
  const TaskId stays = machine.admit(plain(10ms, 5ms)), leaves = machine.admit(plain(5ms, 1ms));
  machine.manager.depart(leaves, {});
  const auto refused = machine.ask(plain(10ms, 6ms));
  int steps = 0;
  while (machine.manager.step(virtual_now) || machine.manager.housekeeper().step(virtual_now)) REQUIRE(++steps < 20);
  CHECK(refused->calls == 0);
  while (machine.manager.below().step(virtual_now)) continue;
  REQUIRE(refused->refusal);
  CHECK(refused->refusal->nearest.found());
  CHECK(machine.report(stays).bound > 5ms);
}

// The manager's own time.

namespace {

constexpr Duration own_budget = 20us, own_period = 1ms, cost_of_step = 6us;

// A core with a task. Each look at the clock takes `cost_of_step`.
struct Flooded {
  static ExecutiveOptions options() {
    ExecutiveOptions options = bare_options();
    options.platform = {.budget = own_budget, .period = own_period};
    return options;
  }

  Machine machine{1, options()};
  TaskId task = machine.admit(plain(10ms, 5ms));
  std::vector<std::shared_ptr<Answer>> refused;

  Flooded() {
    machine.advance(1s);
    virtual_tick = cost_of_step;
  }
  void flood(int candidates) {
    while (candidates-- > 0) refused.push_back(machine.ask(make_contract(10ms, 20ms)));  // C > D
  }
  // Returns how long the manager's thread is busy if the thread below does nothing.
  Duration busy_time() {
    const Time begun = virtual_now;
    while (machine.manager.step(virtual_now)) continue;
    return virtual_now - begun;
  }
  std::ptrdiff_t answered() const {
    return std::count_if(refused.begin(), refused.end(), [](const auto& answer) { return answer->calls == 1; });
  }
};

}  // namespace

TEST_CASE("a flood of new tasks has no more of the manager's time above the tasks than its budget in each period") {
  Flooded flooded;
  flooded.flood(200);
  const Time begun = virtual_now;
  Duration used{};
  for (int periods = 1; periods <= 20; ++periods) {
    while (virtual_now < begun + periods * own_period) {
      used += flooded.busy_time();
      virtual_now = std::max(virtual_now, flooded.machine.manager.wake_at());
    }
    // One more budget at the beginning. In each period, one step may exceed it, and one check may find that it is not
    // back.
    CHECK(used <= (periods + 1) * (own_budget + 2 * cost_of_step));
  }
  CHECK(flooded.answered() >= 20);
  CHECK(flooded.answered() < 100);
}

TEST_CASE("new tasks beyond the manager's own time are decided below the admitted tasks") {
  Flooded flooded;
  flooded.flood(200);
  flooded.busy_time();
  const auto above = flooded.answered();
  CHECK(above > 0);
  CHECK(above < 10);
  virtual_tick = {};
  while (flooded.machine.manager.below().step(virtual_now)) continue;
  CHECK(flooded.answered() == 200);
}

TEST_CASE("a first call beyond the manager's own time waits for it, and jobs of admitted tasks do not") {
  Flooded flooded;
  Machine& machine = flooded.machine;
  flooded.flood(20);
  flooded.busy_time();
  const auto first_call = machine.send_new(plain(10ms, 1ms));
  const auto admitted = machine.send(flooded.task);
  flooded.busy_time();
  CHECK(machine.threads.threads[0]->worker->step(virtual_now));
  CHECK(admitted->runs == 1);
  CHECK(machine.threads.threads.size() == 1);
  virtual_tick = {};
  machine.settle();
  CHECK(first_call->runs == 1);
}

TEST_CASE("a request that arrives after the manager used up its own budget wakes the thread below, not the manager") {
  Flooded flooded;
  ManagerAgent& manager = flooded.machine.manager;
  const auto is_woken = [](os::Parker& parker) { return parker.park(Time{}); };
  flooded.flood(1);
  CHECK(is_woken(manager.parker()));
  flooded.flood(20);
  flooded.busy_time();
  while (is_woken(manager.parker()) || is_woken(manager.below().parker())) continue;
  virtual_tick = {};
  flooded.flood(1);
  CHECK_FALSE(is_woken(manager.parker()));
  CHECK(is_woken(manager.below().parker()));
}

TEST_CASE("a manager with nothing to do sleeps however long its looks take") {
  Flooded flooded;
  ManagerAgent& manager = flooded.machine.manager;
  virtual_tick = 2 * own_budget;
  flooded.flood(1);
  flooded.busy_time();
  REQUIRE(flooded.answered() == 1);
  int looks = 0;
  for (; manager.wake_at() != never; ++looks) {  // once, for requests that arrived meanwhile
    REQUIRE(looks < 3);
    virtual_now = std::max(virtual_now, manager.wake_at());
    flooded.busy_time();
  }
  CHECK(looks == 1);
}

TEST_CASE("promises that others make during an analysis count in its decision") {
  Crowd crowd;
  Machine& machine = crowd.machine;
  const auto candidate = machine.ask(plain(100ms, 45ms));  // fits if other tasks of ours move
  machine.manager.step(virtual_now);
  CHECK(candidate->calls == 0);
  machine.provider().others = {{.core = CoreId{9}, .physical_core = 9, .contract = plain(1s, 1us), .owner = 3}};
  machine.decide();
  REQUIRE(candidate->refusal);
  CHECK(candidate->refusal->code == RefusalCode::not_schedulable);
}

TEST_CASE("a new task waits while requests fill batches, but not for ever") {
  ExecutiveOptions options = bare_options();
  options.queue_capacity = 2048;  // one task may use half of it
  Machine machine(1, options);
  const TaskId id = machine.admit(plain(10ms, 1ms));
  const auto candidate = machine.ask(plain(10ms, 1ms));
  const int begun = machine.provider().begun;
  for (int i = 0; i < WorkCycle::batch * 20; ++i) machine.send(id);
  for (int step = 1; step < WorkCycle::most_skipped; ++step) machine.manager.step(virtual_now);
  CHECK(machine.provider().begun == begun);
  machine.manager.step(virtual_now);
  CHECK(machine.provider().begun == begun + 1);
  machine.decide();
  CHECK(candidate->admission);
}

TEST_CASE("a refusal goes out in time though the tasks leave none to explain it") {
  Machine machine;
  const TaskId id = machine.admit(plain(10ms, 5ms));
  std::vector<std::shared_ptr<Answer>> refused;
  const auto busy_step = [&] {
    machine.send(id);
    machine.manager.step(virtual_now);
  };
  for (int i = 0; i < 10; ++i) refused.push_back(machine.ask(plain(10ms, 6ms)));
  for (int i = 0; i < 30; ++i) busy_step();
  CHECK(refused.front()->calls == 0);
  REQUIRE(machine.manager.wake_at() == virtual_now + AdmissionControl::explain_within);
  virtual_now = machine.manager.wake_at();
  for (int i = 0; i < 10; ++i) busy_step();
  for (const auto& answer : refused) {
    REQUIRE(answer->refusal);
    CHECK(answer->refusal->code == RefusalCode::not_schedulable);
    CHECK(answer->refusal->closest == CoreId{0});
    CHECK_FALSE(answer->refusal->nearest.found());
    CHECK(answer->refusal->unproposed == sched::Unproposed::no_time);
  }
}

TEST_CASE("if too many are refused and not told yet the oldest of them is told") {
  Machine machine;
  const TaskId id = machine.admit(plain(10ms, 5ms));
  std::vector<std::shared_ptr<Answer>> refused;
  const auto come = [&] {
    refused.push_back(machine.ask(plain(10ms, 6ms)));
    for (int i = 0; i < 3; ++i) {
      machine.send(id);
      machine.manager.step(virtual_now);
    }
  };
  for (std::size_t i = 0; i < AdmissionControl::most_refused; ++i) come();
  CHECK(refused.front()->calls == 0);
  come();
  CHECK(refused.front()->refusal);
  CHECK(refused[1]->calls == 0);
}

TEST_CASE("a refused task whose peer is gone is forgotten at once") {
  constexpr PeerId peer = peer_of(7, 1, true);
  Machine machine;
  const TaskId id = machine.admit(plain(10ms, 5ms));
  const auto refused = machine.ask(plain(10ms, 6ms), peer);
  for (int i = 0; i < 3; ++i) {
    machine.send(id);
    machine.manager.step(virtual_now);
  }
  REQUIRE(refused->calls == 0);
  machine.manager.peer_gone(peer);
  machine.send(id);
  machine.manager.step(virtual_now);
  CHECK(refused->calls == 1);
}

// A full queue.

TEST_CASE("a request that finds the queue full takes the place of the least important one which is told") {
  ExecutiveOptions options = bare_options();
  options.queue_capacity = 2;
  Machine machine(1, options);
  const TaskId low = machine.admit(plain(100ms, 1ms)), middle = machine.admit(plain(50ms, 1ms));
  const TaskId high = machine.admit(plain(10ms, 1ms));
  const auto unimportant = machine.send(low);
  const auto other = machine.send(middle);
  const auto important = machine.send(high);
  CHECK(machine.pushed == Pushed::done);
  REQUIRE(unimportant->over());
  CHECK(unimportant->error.kind == ErrorKind::transient);
  CHECK(unimportant->error.minor == minor::queue_full);
  CHECK(machine.manager.report().queue_full == 1);
  machine.settle();
  CHECK(other->runs == 1);
  CHECK(important->runs == 1);
}
