#include "orb/dispatch/manager/manager_agent.h"

#include <catch2/catch.hpp>

#include "orb/base/minor.h"
#include "tests/orb/dispatch/fixture.h"

using namespace corelane;
using namespace corelane::dispatch;
using namespace corelane::dispatch::test;
using namespace std::chrono_literals;
using sched::RefusalCode;

TEST_CASE("a job that comes after a step has begun counts from then, and the next from a period later") {
  Machine machine;
  const TaskId task = machine.admit(plain(10ms, 1ms));
  const Time begun = virtual_now;
  virtual_now += 3ms;  // as if the manager was kept from its core
  const auto first = machine.send(task);
  machine.manager.step(begun);
  machine.settle();
  CHECK(first->context.release == begun + 3ms);
  const auto next = machine.send(task);
  machine.settle();
  machine.advance(10ms);
  CHECK(next->context.release == begun + 3ms + 10ms);
}

TEST_CASE("an admitted task gets a core a priority and a thread there") {
  Machine machine;
  const auto answer = machine.ask(plain(10ms, 1ms));
  machine.decide();
  REQUIRE(answer->admission);
  CHECK(answer->calls == 1);
  CHECK(answer->admission->task != no_task);
  CHECK(answer->admission->core == CoreId{0});
  CHECK(answer->admission->priority >= Priority{1});
  CHECK(answer->admission->bound == 1ms);
  REQUIRE(machine.threads.threads.size() == 1);
  CHECK(machine.threads.threads[0]->placement.core == CoreId{0});
  CHECK(machine.threads.threads[0]->placement.native >= 2);
  CHECK(machine.threads.threads[0]->placement.native < 49);
}

TEST_CASE("a task is not announced before its thread lives") {
  Machine machine;
  const auto answer = machine.ask(plain(10ms, 1ms));
  while (machine.manager.step(virtual_now)) continue;
  CHECK(answer->calls == 0);
  machine.decide();
  CHECK(answer->admission);
}

TEST_CASE("a thread that is there already runs the first job without the housekeeper") {
  Machine machine;
  machine.threads.spares = 1;
  const auto fate = machine.send_new(plain(10ms, 1ms));
  const auto next = machine.ask(plain(10ms, 1ms));
  while (machine.manager.step(virtual_now)) continue;
  REQUIRE(machine.threads.threads.size() == 1);
  machine.threads.threads[0]->worker->step(virtual_now);
  CHECK(fate->runs == 1);
  CHECK(next->calls == 0);  // there was only one such thread
  machine.decide();
  CHECK(next->admission);
  machine.manager.depart(fate->context.task, {});
  machine.settle();
  CHECK(machine.threads.threads[0]->ended);
}

TEST_CASE("a job of an admitted task runs on its worker with its deadline") {
  Machine machine;
  const TaskId id = machine.admit(plain(10ms, 1ms, 8ms));
  const Time sent = virtual_now;
  const auto fate = machine.send(id, 500us);
  machine.settle();
  REQUIRE(fate->over());
  CHECK(fate->runs == 1);
  CHECK(fate->context.task == id);
  CHECK(fate->context.core == CoreId{0});
  CHECK(fate->context.release == sent);
  CHECK(fate->context.deadline == sent + 8ms);
  CHECK(fate->context.budget == 1ms);
  const TaskReport report = machine.report(id);
  CHECK(report.jobs == 1);
  CHECK(report.misses == 0);
  CHECK(report.response_max == 500us);
}

TEST_CASE("the shorter deadline gets the higher native level") {
  Machine machine;
  machine.admit(plain(20ms, 1ms));
  machine.admit(plain(10ms, 1ms));
  machine.admit(plain(40ms, 1ms));
  const auto& threads = machine.threads.threads;
  REQUIRE(threads.size() == 3);
  CHECK(threads[1]->placement.native > threads[0]->placement.native);
  CHECK(threads[0]->placement.native > threads[2]->placement.native);
}

TEST_CASE("tasks spread over the cores") {
  const int cores = GENERATE(1, 2, 64);
  Machine machine(cores);
  std::vector<int> used(static_cast<std::size_t>(cores));
  for (int i = 0; i < cores; ++i) {
    machine.admit(plain(10ms, 6ms));
    ++used[static_cast<std::size_t>(machine.threads.threads.back()->placement.core.value)];
  }
  CHECK(used == std::vector<int>(static_cast<std::size_t>(cores), 1));
  CHECK(machine.refused(plain(10ms, 6ms)).code == RefusalCode::not_schedulable);
}

TEST_CASE("a refusal tells what would have fitted") {
  Machine machine;
  machine.admit(plain(10ms, 6ms));
  const sched::Refusal refusal = machine.refused(plain(10ms, 6ms));
  CHECK(refusal.code == RefusalCode::not_schedulable);
  CHECK(refusal.closest == CoreId{0});
  CHECK(refusal.nearest.found());
  CHECK(machine.manager.report().refused == 1);
}

TEST_CASE("a refusal goes out without explanation when jobs keep the manager busy") {
  Machine machine;
  machine.admit(plain(10ms, 6ms));
  const auto answer = machine.ask(plain(10ms, 6ms));
  while (!machine.manager.wake_at().time_since_epoch().count() || machine.manager.step(virtual_now)) {
    virtual_now += 60ms;
    if (answer->calls > 0) break;
  }
  machine.decide();
  REQUIRE(answer->refusal);
  CHECK_FALSE(answer->refusal->nearest.found());
}

TEST_CASE("a refusal says where nothing would fit at all") {
  Machine machine;
  machine.admit(plain(10ms, 9500us));  // takes all that may be promised
  const sched::Refusal refusal = machine.refused(plain(10ms, 6ms));
  CHECK_FALSE(refusal.nearest.found());
  CHECK(refusal.unproposed == sched::Unproposed::nothing_fits);
}

TEST_CASE("the manager rests after a step in which nothing but jobs came") {
  Machine machine;
  const TaskId id = machine.admit(plain(10ms, 1ms));
  machine.send(id);
  CHECK_FALSE(machine.manager.step(virtual_now));
  CHECK(machine.threads.threads[0]->worker->step(virtual_now));
}

TEST_CASE("an early job waits for its time and its release counts from there") {
  Machine machine;
  const TaskId id = machine.admit(plain(10ms, 1ms));
  const Time first = virtual_now;
  machine.send(id);
  machine.settle();
  const TaskId other = machine.admit(plain(20ms, 5ms));
  machine.send(other);
  machine.decide();  // the other job is there, so the core is not idle
  const auto early = machine.send(id);
  machine.decide();
  CHECK_FALSE(machine.threads.threads[0]->worker->step(virtual_now));
  CHECK(machine.threads.threads[0]->worker->wake_at(virtual_now) == first + 10ms);
  CHECK(early->runs == 0);
  virtual_now = first + 10ms;
  CHECK(machine.threads.threads[0]->worker->step(virtual_now));
  CHECK(early->runs == 1);
  CHECK(early->context.release == first + 10ms);
  CHECK(early->context.deadline == first + 20ms);
  CHECK(machine.report(id).early == 1);
}

TEST_CASE("a second early job is turned away") {
  Machine machine;
  const TaskId id = machine.admit(plain(10ms, 1ms));
  const TaskId other = machine.admit(plain(20ms, 5ms));
  machine.send(other);
  machine.send(id);
  machine.decide();
  machine.threads.threads[0]->worker->step(virtual_now);
  const auto waits = machine.send(id), refused = machine.send(id);
  machine.decide();
  CHECK(waits->refusals == 0);
  REQUIRE(refused->over());
  CHECK(refused->refusal.code == RefusalCode::job_waiting);
  CHECK(machine.report(id).refused == 1);
  machine.manager.depart(id, {});
  machine.settle();
  CHECK(machine.manager.report().jobs_refused == 1);  // counted although the task may have left
}

TEST_CASE("a job that ends after its deadline is a miss and one that used more than its budget an overrun") {
  Machine machine;
  const TaskId id = machine.admit(plain(10ms, 2ms, 5ms));
  machine.send(id, 3ms);
  machine.settle();
  machine.advance(10ms);
  machine.send(id, 6ms);
  machine.settle();
  const TaskReport report = machine.report(id);
  CHECK(report.jobs == 2);
  CHECK(report.overruns == 2);
  CHECK(report.misses == 1);
  CHECK(report.response_max == 6ms);
  REQUIRE(report.latest_misses.size() == 1);
  const Miss& miss = report.latest_misses.front();
  CHECK(miss.deadline == miss.release + 5ms);
  CHECK(miss.finished == miss.release + 6ms);
  CHECK(miss.core == CoreId{0});
}

TEST_CASE("a job that ends on its deadline is no miss") {
  Machine machine;
  const TaskId id = machine.admit(plain(10ms, 5ms, 5ms));
  machine.send(id, 5ms);
  machine.settle();
  CHECK(machine.report(id).misses == 0);
  CHECK(machine.report(id).overruns == 0);
}

TEST_CASE("a first call with a contract is admitted and runs as the first job of its task") {
  Machine machine;
  const auto fate = machine.send_new(plain(10ms, 1ms), PeerId{7});
  machine.settle();
  REQUIRE(fate->over());
  CHECK(fate->runs == 1);
  REQUIRE(fate->context.task != no_task);
  const TaskReport report = machine.report(fate->context.task);
  CHECK(report.owner == PeerId{7});
  CHECK(report.label == "first call");
  CHECK(report.jobs == 1);
}

TEST_CASE("a first call that does not fit is refused") {
  Machine machine;
  machine.admit(plain(10ms, 6ms));
  const auto fate = machine.send_new(plain(10ms, 6ms));
  machine.settle();
  REQUIRE(fate->over());
  CHECK(fate->refusal.code == RefusalCode::not_schedulable);
  CHECK(fate->refusal.nearest.found());
}

TEST_CASE("without admission no task is refused for lack of capacity") {
  ExecutiveOptions options = bare_options();
  options.admission_test = &sched::admission::none;
  Machine machine(2, options);
  for (int i = 0; i < 10; ++i) machine.admit(plain(10ms, 6ms));
  CHECK(machine.manager.report().admitted == 10);
}

TEST_CASE("a task that departs gives its thread and its bandwidth back") {
  Machine machine;
  const TaskId id = machine.admit(plain(10ms, 6ms));
  CHECK(machine.refused(plain(10ms, 6ms)).code == RefusalCode::not_schedulable);
  machine.manager.depart(id, {});
  machine.settle();
  CHECK(machine.threads.threads[0]->ended);
  machine.admit(plain(10ms, 6ms));
  const TaskReport report = machine.report(id);
  CHECK(report.gone);
}

TEST_CASE("a task that departs keeps its bandwidth until its running job has ended") {
  Machine machine;
  const TaskId id = machine.admit(plain(10ms, 6ms));
  const auto running = machine.send(id);
  machine.decide();
  machine.manager.depart(id, {});
  machine.decide();
  CHECK_FALSE(machine.threads.threads[0]->ended);
  const auto next = machine.ask(plain(10ms, 6ms));
  machine.decide();
  CHECK_FALSE(next->admission);
  machine.settle();
  CHECK(running->runs == 1);
  CHECK(machine.threads.threads[0]->ended);
}

TEST_CASE("the waiting jobs of a departing task fail") {
  Machine machine;
  const TaskId id = machine.admit(plain(10ms, 1ms));
  const TaskId other = machine.admit(plain(20ms, 5ms));
  machine.send(other);
  machine.send(id);
  machine.decide();
  machine.threads.threads[0]->worker->step(virtual_now);
  const auto waits = machine.send(id);
  machine.decide();
  machine.manager.depart(id, {});
  machine.decide();
  REQUIRE(waits->over());
  CHECK(waits->error.minor == minor::unknown_task);
}

TEST_CASE("a peer that is gone takes its tasks along and leaves the others") {
  Machine machine(2);
  machine.admit(plain(10ms, 6ms), PeerId{1});
  const TaskId other = machine.admit(plain(10ms, 6ms), PeerId{2});
  machine.manager.peer_gone(PeerId{1});
  machine.settle();
  CHECK_FALSE(machine.report(other).gone);
  machine.admit(plain(10ms, 6ms), PeerId{3});
  CHECK(machine.refused(plain(10ms, 6ms)).code == RefusalCode::not_schedulable);
}

TEST_CASE("requests that a lost peer still had in the queue are not admitted") {
  Machine machine;
  const auto fate = machine.send_new(plain(10ms, 6ms), PeerId{1});
  machine.provider().busy = true;
  machine.decide();
  machine.manager.peer_gone(PeerId{1});
  machine.decide();
  REQUIRE(fate->over());
  CHECK(fate->failures == 1);
  machine.provider().busy = false;
  const auto late = machine.send_new(plain(10ms, 6ms), PeerId{1});
  machine.advance(1ms);
  CHECK(late->failures == 1);
  CHECK(machine.manager.report().admitted == 0);
}

TEST_CASE("a new task that comes while tasks are being moved waits, and is decided after that") {
  Machine machine(2);
  for (const Duration budget : {30ms, 30ms, 10ms, 10ms}) machine.admit(plain(100ms, budget));
  std::vector<std::shared_ptr<Fate>> running;
  for (const auto& thread : machine.threads.threads) running.push_back(machine.send(thread->worker->task()));
  machine.decide();
  const auto moves = machine.ask(plain(100ms, 75ms));
  machine.decide();
  const auto waits = machine.ask(plain(100ms, 80ms));
  machine.decide();
  CHECK(moves->calls == 0);
  CHECK(waits->calls == 0);
  machine.settle();
  CHECK(moves->admission);
  machine.advance(AdmissionControl::reorganizing_period);
  REQUIRE(waits->refusal);
  CHECK(waits->refusal->code == RefusalCode::not_schedulable);
}

TEST_CASE("this process is never gone as a peer") {
  Machine machine;
  const TaskId id = machine.admit(plain(10ms, 1ms));
  machine.manager.peer_gone({});
  machine.settle();
  CHECK_FALSE(machine.report(id).gone);
  machine.admit(plain(10ms, 1ms));
}

TEST_CASE("another peer's task can be neither used nor ended") {
  Machine machine;
  const TaskId id = machine.admit(plain(10ms, 1ms), PeerId{1});
  const auto fate = machine.send(id, {}, PeerId{2});
  machine.manager.depart(id, PeerId{2});
  machine.settle();
  REQUIRE(fate->over());
  CHECK(fate->refusal.code == RefusalCode::unknown_task);
  CHECK_FALSE(machine.report(id).gone);
}

TEST_CASE("a repacking moves tasks and their threads at a job boundary") {
  Machine machine(2);
  // Least-loaded first puts .3 and .1 on each core. .75 fits only after repacking.
  machine.admit(plain(100ms, 30ms));
  machine.admit(plain(100ms, 30ms));
  machine.admit(plain(100ms, 10ms));
  machine.admit(plain(100ms, 10ms));
  const auto answer = machine.ask(plain(100ms, 75ms));
  machine.settle();
  REQUIRE(answer->admission);
  int moved = 0;
  for (const TaskReport& report : machine.manager.report().tasks) {
    for (const auto& thread : machine.threads.threads)
      if (thread->worker->task() == report.task) CHECK(thread->placement.core == report.core);
    moved += report.core == answer->admission->core ? 0 : 1;
  }
  CHECK(moved >= 2);
  // Each task still runs on the core where it is now.
  std::vector<std::shared_ptr<Fate>> fates;
  for (const TaskReport& report : machine.manager.report().tasks) fates.push_back(machine.send(report.task));
  machine.settle();
  for (const auto& fate : fates) CHECK(fate->runs == 1);
}

// Error paths.

TEST_CASE("an unsound contract is refused") {
  Machine machine;
  CHECK(machine.refused({.period = 10ms, .deadline = 10ms, .budget = 11ms}).code == RefusalCode::bad_contract);
}

TEST_CASE("requests of lost peers are not admitted, however many peers are lost at once") {
  Machine machine;
  const auto answer = machine.ask(plain(10ms, 1ms), PeerId{1});
  for (std::uint64_t peer = 1; peer <= 600; ++peer) machine.manager.peer_gone(PeerId{peer});
  machine.decide();
  REQUIRE(answer->error);
  CHECK(answer->error->minor == minor::unknown_task);
  CHECK(machine.manager.report().admitted == 0);
}

TEST_CASE("a job of an unknown task is refused") {
  Machine machine;
  const auto fate = machine.send(TaskId{4711});
  machine.settle();
  REQUIRE(fate->over());
  CHECK(fate->refusal.code == RefusalCode::unknown_task);
}

TEST_CASE("a task whose thread does not start is not admitted") {
  Machine machine;
  machine.threads.failure = Error{.kind = ErrorKind::no_resources, .minor = minor::no_thread};
  const auto answer = machine.ask(plain(10ms, 6ms));
  const auto call = machine.send_new(plain(10ms, 1ms));
  machine.settle();
  REQUIRE(answer->error);
  CHECK(answer->error->minor == minor::no_thread);
  CHECK(call->failures == 1);
  machine.threads.failure.reset();
  machine.admit(plain(10ms, 6ms));
}

TEST_CASE("a full queue says so and keeps nothing") {
  ExecutiveOptions options = bare_options();
  options.queue_capacity = 4;  // one task may use half of it
  Machine machine(1, options);
  const TaskId id = machine.admit(plain(10ms, 1ms));
  machine.send(id);
  machine.send(id);
  CHECK(machine.pushed == Pushed::done);
  const auto fate = machine.send(id);
  CHECK(machine.pushed == Pushed::full);
  CHECK(fate->recycled == 1);
  CHECK(machine.manager.report().queue_full == 1);
}

TEST_CASE("requests of one task leave room for those of another peer's task, and of first calls") {
  Machine machine;
  const PeerId hog = peer_of(1, 1), other = peer_of(2, 2);
  const TaskId flooded = machine.admit(plain(10ms, 1ms), hog), quiet = machine.admit(plain(20ms, 1ms), other);
  do machine.send(flooded, {}, hog);
  while (machine.pushed == Pushed::done);
  const auto call = machine.send(quiet, {}, other);
  const auto first_call = machine.send_new(plain(50ms, 1ms), other);
  machine.settle();
  CHECK(call->runs == 1);
  CHECK(first_call->runs == 1);
}

TEST_CASE("a peer that asks for admission once is decided soon however many peers ask again and again") {
  constexpr int hogs = 16, each = 200;  // more than the queue holds
  Machine machine;
  for (int i = 0; i < each; ++i)
    for (std::uint32_t hog = 1; hog <= hogs; ++hog)
      i % 2 == 0 ? static_cast<void>(machine.ask(plain(10ms, 11ms), peer_of(hog, hog)))
                 : static_cast<void>(machine.send_new(plain(10ms, 11ms), peer_of(hog, hog)));
  const PeerId other = peer_of(hogs + 1, hogs + 1);
  const auto asked = machine.ask(plain(20ms, 1ms), other);
  const auto called = machine.send_new(plain(20ms, 1ms), other);
  int steps = 0;
  while (asked->calls == 0 || machine.threads.threads.size() < 2) {
    REQUIRE(++steps <= 4 * (hogs + 1));
    machine.manager.step(virtual_now);
    machine.manager.housekeeper().step(virtual_now);
  }
  CHECK(asked->admission);
  CHECK(called->failures == 0);
}

TEST_CASE("shutting down gives the promises back without waiting for another process") {
  Machine machine;
  machine.admit(plain(10ms, 1ms));
  machine.provider().busy = true;
  machine.provider().begun = 0;
  machine.manager.shut_down(virtual_now);
  CHECK(machine.provider().mine.empty());
  CHECK(machine.provider().begun == 0);
}

TEST_CASE("shutting down answers every waiting request once") {
  auto fate = std::make_shared<Fate>();
  std::shared_ptr<Answer> answer;
  std::shared_ptr<Fate> waits;
  std::shared_ptr<Fate> queued;
  {
    Machine machine;
    const TaskId id = machine.admit(plain(10ms, 1ms));
    const TaskId other = machine.admit(plain(20ms, 5ms));
    machine.send(other);
    machine.send(id);
    machine.decide();
    machine.threads.threads[0]->worker->step(virtual_now);
    waits = machine.send(id);
    machine.decide();
    answer = machine.ask(plain(10ms, 1ms));
    queued = machine.send(id);
    machine.manager.shut_down(virtual_now);
    const auto late = machine.send(id);
    CHECK(machine.pushed == Pushed::closed);
    const auto too_late = machine.ask(plain(10ms, 1ms));
    REQUIRE(too_late->error);
    CHECK(too_late->error->minor == minor::shutting_down);
    CHECK(machine.provider().mine.empty());
  }
  CHECK(answer->error->minor == minor::shutting_down);
  CHECK(queued->error.minor == minor::shutting_down);
  CHECK(waits->failures == 1);
}
