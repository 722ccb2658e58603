// Tests that a job goes from submit() to its end without an allocation after warm-up.
#include <catch2/catch.hpp>

#include "tests/orb/dispatch/fixture.h"
#include "tests/support/failing_allocations.h"

using namespace corelane;
using namespace corelane::dispatch;
using namespace corelane::dispatch::test;
using namespace std::chrono_literals;
using corelane::testing::allocations;
using corelane::testing::allocations_are_counted;

namespace {

// A job that its owner keeps, as a pool of request buffers does.
class KeptJob final : public Job {
 public:
  void run(const JobContext&) noexcept override { ++runs; }
  void refuse(const sched::Refusal&) noexcept override { ++refusals; }
  void fail(Error) noexcept override {}
  void recycle() noexcept override {}
  int runs = 0, refusals = 0;
};

std::size_t cost_of(Machine& machine, KeptJob& job, TaskId task) {
  TaskWorker& worker = *machine.threads.threads.front()->worker;
  const std::size_t before = allocations();
  job.task = task;
  job.arrived = virtual_now;
  JobPtr pushed(&job);
  if (machine.manager.submit(pushed) != Pushed::done) return 1'000'000;
  machine.manager.step(virtual_now);
  worker.step(virtual_now);
  return allocations() - before;
}

}  // namespace

TEST_CASE("a job that runs allocates nothing") {
  if (!allocations_are_counted()) return;
  Machine machine;
  const TaskId id = machine.admit(make_contract(10ms, 1ms, {}, 0ms));
  KeptJob job;
  for (int i = 1; i <= 100; ++i) {
    CHECK(cost_of(machine, job, id) == 0);
    CHECK(job.runs == i);
    virtual_now += 10ms;
  }
}

// The manager's longest answer: all tasks of a peer leave at once, and the ceilings and priorities of all tasks change.
TEST_CASE("the manager's longest answer is carried out without an allocation") {
  if (!allocations_are_counted()) return;
  constexpr int crowd = 120;
  ExecutiveOptions options = bare_options();
  options.peer_tasks = 0;  // no limit, so that one peer may own all tasks
  Machine machine(1, options);
  for (int i = 0; i < crowd; ++i) {
    Contract contract = plain(1s + i * 1ms, 100us);
    for (int use = 0; use < 2; ++use)
      contract.uses[static_cast<std::size_t>(use)] = {
          .resource = ResourceId{static_cast<std::uint32_t>(2 * i + use + 1)}, .longest = 1us};
    machine.admit(contract, PeerId{1});
    machine.advance(2s);
  }
  const TaskId rest = machine.admit(plain(10ms, 100us));
  machine.settle();
  machine.manager.peer_gone(PeerId{1});
  const std::size_t before = allocations();
  machine.manager.step(virtual_now);
  CHECK(allocations() == before);
  machine.settle();
  CHECK(machine.manager.report().cores.front().tasks == 1);
  CHECK_FALSE(machine.report(rest).gone);
}

TEST_CASE("a job that is early or turned away allocates nothing") {
  if (!allocations_are_counted()) return;
  Machine machine;
  const TaskId id = machine.admit(make_contract(10ms, 1ms, {}, 0ms));
  KeptJob first, early, refused;
  CHECK(cost_of(machine, first, id) == 0);
  CHECK(cost_of(machine, early, id) == 0);
  CHECK(early.runs == 0);
  CHECK(cost_of(machine, refused, id) == 0);
  CHECK(refused.refusals == 1);
  virtual_now += 10ms;
  const std::size_t before = allocations();
  CHECK(machine.threads.threads.front()->worker->step(virtual_now));
  CHECK(allocations() == before);
  CHECK(early.runs == 1);
}
