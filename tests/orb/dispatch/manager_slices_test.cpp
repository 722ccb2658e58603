// What goes first in the manager: requests of admitted tasks before analyses, which go on slice by slice in between.
#include <catch2/catch.hpp>

#include "orb/base/minor.h"
#include "orb/dispatch/manager_agent.h"
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

// 1000 tasks that fill 64 cores to 60 % each.
struct Crowd {
  Machine machine{64, roomy()};
  std::vector<TaskId> tasks;
  std::size_t next = 0;

  Crowd() {
    for (int i = 0; i < 1000; ++i) tasks.push_back(machine.admit(plain(100ms, 3840us)));
    machine.settle();
  }
  // One more of the tasks gets a job; whether its thread has it after one step of the manager.
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
  const auto newcomer = machine.ask(plain(100ms, 45ms));
  machine.manager.step(virtual_now);
  const int begun = machine.provider().begun;
  int slices = 0;
  for (; machine.provider().begun == begun; ++slices) REQUIRE(crowd.dispatches_at_once());  // until it is decided
  CHECK(slices > 50);
  machine.settle();
  CHECK(newcomer->admission);
}

TEST_CASE("while what would fit is looked for each request is dispatched before the next slice") {
  Crowd crowd;
  const auto newcomer = crowd.machine.ask(plain(100ms, 96ms));
  int slices = 0;
  for (; newcomer->calls == 0; ++slices) {
    REQUIRE(crowd.dispatches_at_once());
    crowd.machine.manager.step(virtual_now);  // nothing else is to be done in this one
  }
  CHECK(slices > 20);
  REQUIRE(newcomer->refusal);
  CHECK(newcomer->refusal->nearest.found());
}

TEST_CASE("what others promise during an analysis counts when it is decided") {
  Crowd crowd;
  Machine& machine = crowd.machine;
  const auto newcomer = machine.ask(plain(100ms, 45ms));  // fits if others of us move
  machine.manager.step(virtual_now);
  CHECK(newcomer->calls == 0);
  machine.provider().others = {{.core = CoreId{9}, .physical_core = 9, .contract = plain(1s, 1us), .owner = 3}};
  machine.decide();
  REQUIRE(newcomer->refusal);
  CHECK(newcomer->refusal->code == RefusalCode::not_schedulable);
}

TEST_CASE("a newcomer waits while requests fill batches but not for ever") {
  ExecutiveOptions options = bare_options();
  options.queue_capacity = 1024;
  Machine machine(1, options);
  const TaskId id = machine.admit(plain(10ms, 1ms));
  const auto newcomer = machine.ask(plain(10ms, 1ms));
  const int begun = machine.provider().begun;
  for (int i = 0; i < ManagerAgent::batch * 20; ++i) machine.send(id);
  for (int step = 1; step < ManagerAgent::most_skipped; ++step) machine.manager.step(virtual_now);
  CHECK(machine.provider().begun == begun);
  machine.manager.step(virtual_now);
  CHECK(machine.provider().begun == begun + 1);
  machine.decide();
  CHECK(newcomer->admission);
}

TEST_CASE("a refusal goes out within a bounded number of steps though jobs leave no time to explain it") {
  Machine machine;
  const TaskId id = machine.admit(plain(10ms, 5ms));
  std::vector<std::shared_ptr<Answer>> refused;
  int steps = 0;
  const auto busy_step = [&] {
    machine.send(id);
    machine.manager.step(virtual_now);
    ++steps;
  };
  for (int i = 0; i < 10; ++i) refused.push_back(machine.ask(plain(10ms, 6ms)));
  while (refused.back()->calls == 0) {
    REQUIRE(steps < Newcomers::most_passed_over + 20);
    busy_step();
  }
  for (const auto& answer : refused) {
    REQUIRE(answer->refusal);
    CHECK(answer->refusal->code == RefusalCode::not_schedulable);
    CHECK(answer->refusal->closest == CoreId{0});
    CHECK_FALSE(answer->refusal->nearest.found());
  }
}

TEST_CASE("who is refused and not told yet counts among the newcomers and makes room for them") {
  ExecutiveOptions options = bare_options();
  options.queue_capacity = 2 * Newcomers::most;
  Machine machine(1, options);
  const TaskId id = machine.admit(plain(10ms, 5ms));
  const auto refused = machine.ask(plain(10ms, 6ms));
  for (int i = 0; i < 3; ++i) {
    machine.send(id);
    machine.manager.step(virtual_now);
  }
  REQUIRE(refused->calls == 0);
  machine.provider().busy = true;  // nobody is decided
  std::vector<std::shared_ptr<Fate>> waiting;
  const auto come = [&](std::size_t more) {
    while (more-- > 0) waiting.push_back(machine.send_new(plain(10ms, 1ms)));
    for (int i = 0; i < 40; ++i) {  // 32 in each
      machine.send(id);
      machine.manager.step(virtual_now);
    }
  };
  come(Newcomers::most - 1);
  CHECK(refused->calls == 0);
  come(1);
  CHECK(refused->refusal);
  CHECK(waiting.back()->failures == 0);
  come(1);
  REQUIRE(waiting.back()->failures == 1);
  CHECK(waiting.back()->error.minor == minor::queue_full);
}

TEST_CASE("whoever is refused and gone is forgotten at once") {
  Machine machine;
  const TaskId id = machine.admit(plain(10ms, 5ms));
  const auto refused = machine.ask(plain(10ms, 6ms), PeerId{7});
  for (int i = 0; i < 3; ++i) {
    machine.send(id);
    machine.manager.step(virtual_now);
  }
  REQUIRE(refused->calls == 0);
  machine.manager.peer_gone(PeerId{7});
  machine.send(id);
  machine.manager.step(virtual_now);
  CHECK(refused->calls == 1);
}

// The queue is full.

TEST_CASE("a request that finds the queue full takes the place of the least important one which is told") {
  ExecutiveOptions options = bare_options();
  options.queue_capacity = 2;
  Machine machine(1, options);
  const TaskId low = machine.admit(plain(100ms, 1ms));
  const TaskId high = machine.admit(plain(10ms, 1ms));
  const auto first_call = machine.send_new(plain(50ms, 1ms));
  const auto unimportant = machine.send(low);
  const auto important = machine.send(high);
  CHECK(machine.pushed == Pushed::done);
  REQUIRE(first_call->over());
  CHECK(first_call->error.kind == ErrorKind::transient);
  CHECK(first_call->error.minor == minor::queue_full);
  CHECK(machine.manager.report().queue_full == 1);
  machine.settle();
  CHECK(unimportant->runs == 1);
  CHECK(important->runs == 1);
}
