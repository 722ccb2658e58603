// Tests hand_in(): the thread that hands in a job of an admitted task dispatches it in place of the manager's thread.
#include "tests/orb/dispatch/fixture.h"

namespace hand_in_test {

using namespace corelane;
using namespace corelane::dispatch;
using namespace corelane::dispatch::test;
using namespace std::chrono_literals;

TEST_CASE("a thread that hands in a job of an admitted task dispatches it without a step of the manager") {
  Machine machine;
  const TaskId id = machine.admit(plain(10ms, 1ms));
  const auto fate = machine.hand_in(id);
  CHECK(machine.pushed == Pushed::done);
  CHECK(machine.threads.threads[0]->worker->step(virtual_now));
  CHECK(fate->runs == 1);
  CHECK_FALSE(machine.manager.step(virtual_now));
}

TEST_CASE("a thread that hands in a job also dispatches the jobs that wait in the queue") {
  Machine machine;
  const TaskId first = machine.admit(plain(10ms, 1ms));
  const TaskId second = machine.admit(plain(20ms, 1ms));
  const auto waits = machine.send(second);
  machine.hand_in(first);
  CHECK(machine.threads.threads[1]->worker->step(virtual_now));
  CHECK(waits->runs == 1);
}

TEST_CASE("a job that is handed in while no job of its task waits bypasses a full queue and displaces no request") {
  ExecutiveOptions options = bare_options();
  options.queue_capacity = 2;
  Machine machine(1, options);
  const TaskId id = machine.admit(plain(10ms, 1ms));
  const auto first = machine.send_new(plain(20ms, 1ms)), second = machine.send_new(plain(20ms, 1ms));
  const auto fate = machine.hand_in(id);
  CHECK(machine.pushed == Pushed::done);
  CHECK(machine.threads.threads[0]->worker->step(virtual_now));
  CHECK(fate->runs == 1);
  machine.settle();
  CHECK(first->runs == 1);
  CHECK(second->runs == 1);
}

TEST_CASE("an admission request that waits when a job is handed in is left to the manager") {
  Machine machine;
  const TaskId id = machine.admit(plain(10ms, 1ms));
  while (machine.manager.parker().park(Time{})) continue;  // uses up earlier wake-ups
  const auto candidate = machine.send_new(plain(20ms, 1ms));
  machine.hand_in(id);
  CHECK(machine.manager.parker().park(Time{}));
  machine.settle();
  CHECK(candidate->runs == 1);
}

}  // namespace hand_in_test
