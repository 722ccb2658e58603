// Tests named resources: immediate ceilings on one core, spinning across cores.
#include <catch2/catch.hpp>
#include <vector>

#include "orb/sched/analysis/spin_lock.h"
#include "orb/sched/manager.h"
#include "tests/orb/sched/manager_fixture.h"
#include "tests/orb/sched/schedulers/scheduler_fixture.h"

using namespace corelane;
using namespace corelane::sched;
using namespace corelane::sched::testing;
using namespace std::chrono_literals;

namespace {

constexpr ResourceId table{7};
constexpr ResourceId journal{8};

Contract task(Duration budget, Duration period) { return {.period = period, .deadline = period, .budget = budget}; }

Contract locking(Contract contract, ResourceId resource, Duration longest) {
  contract.uses[0] = {resource, longest};
  return contract;
}

}  // namespace

TEST_CASE("a section below blocks every task up to its ceiling once") {
  Bench b(cores_of(1));
  const TaskId high = b.admitted(locking(task(1ms, 5ms), table, 1ms));
  const TaskId middle = b.admitted(task(2ms, 10ms));
  CHECK(b.manager.find(middle)->response == 3ms);
  const TaskId low = b.admitted(locking(task(3ms, 20ms), table, 2ms));
  CHECK(b.manager.find(high)->response == 3ms);
  CHECK(b.manager.find(middle)->response == 5ms);
  CHECK(b.manager.find(low)->response == 7ms);
}

TEST_CASE("a section whose ceiling is lower blocks nobody above it") {
  Bench b(cores_of(1));
  const TaskId high = b.admitted(task(1ms, 5ms));
  const TaskId middle = b.admitted(locking(task(2ms, 10ms), table, 1ms));
  b.admitted(locking(task(3ms, 20ms), table, 2ms));
  CHECK(b.manager.find(high)->response == 1ms);
  CHECK(b.manager.find(middle)->response == 5ms);
}

TEST_CASE("a new task whose section would block another task too long is refused") {
  Bench b(cores_of(1));
  const TaskId high = b.admitted(locking({.period = 10ms, .deadline = 3ms, .budget = 1ms}, table, 1ms));
  b.admitted(locking(task(5ms, 50ms), table, 2ms));
  const Refusal refusal = b.refused(locking(task(5ms, 60ms), table, 2ms + 1ns));
  CHECK(refusal.code == RefusalCode::not_schedulable);
  CHECK(refusal.loser == high);
  CHECK(refusal.response == 3ms + 1ns);
}

TEST_CASE(
    "a section of a task that can be demoted may block every task, and counts for longer in the analysis of the "
    "others") {
  Bench b(cores_of(1));
  Contract high = locking(task(1ms, 5ms), table, 1ms);
  high.on_overrun = OverrunPolicy::demote;
  b.admitted(high);
  const TaskId low = b.admitted(task(3ms, 20ms));
  CHECK(b.manager.find(low)->response == 8ms);  // B 1, C 3, and two jobs of C + L = 2 above it
}

TEST_CASE("a task that suspends itself is not admitted below the ceiling of a section") {
  Bench b(cores_of(1));
  b.admitted(locking(task(1ms, 10ms), table, 1ms));
  Contract sleeper = task(1ms, 50ms);
  sleeper.suspension = 1ms;
  b.admitted(sleeper);  // no task below it locks
  CHECK(b.refused(locking(task(1ms, 100ms), table, 1ms)).code == RefusalCode::not_schedulable);
  b.admitted(locking(task(1ms, 100ms), journal, 1ms));
}

TEST_CASE("the ceiling of a resource follows its most urgent user") {
  Bench b(cores_of(1));
  const auto first = b.propose(locking(task(1ms, 50ms), table, 1ms));
  REQUIRE(only<Ceiling>(first).size() == 1);
  CHECK(only<Ceiling>(first)[0].resource == table);
  CHECK(only<Ceiling>(first)[0].priority == only<Admit>(first).at(0).priority);
  CHECK_FALSE(only<Admit>(first).at(0).waits_for_idle);

  const auto second = b.propose(locking(task(1ms, 10ms), table, 1ms));
  REQUIRE(only<Ceiling>(second).size() == 1);
  const Admit urgent = only<Admit>(second).at(0);
  CHECK(only<Ceiling>(second)[0].priority == urgent.priority);
  CHECK(urgent.waits_for_idle);
  CHECK(std::holds_alternative<Ceiling>(second.front()));  // before any task may run under it

  CHECK(only<Ceiling>(b.tell(Departed{Time{}, urgent.task})).empty());  // the task may still hold the resource
  const auto lowered = only<Ceiling>(b.vacated(urgent.task, CoreId{0}));
  REQUIRE(lowered.size() == 1);
  CHECK(lowered[0].priority == only<Admit>(first)[0].priority);
  b.tell(Departed{Time{}, only<Admit>(first)[0].task});
  CHECK(only<Ceiling>(b.vacated(only<Admit>(first)[0].task, CoreId{0})).at(0).priority == best_effort);
}

TEST_CASE("all users of a resource are placed on one core") {
  Bench b(cores_of(2));
  const TaskId first = b.admitted(locking(task(40ms, 100ms), table, 1ms));
  CHECK(b.core_of(b.admitted(task(1ms, 100ms))) != b.core_of(first));
  const TaskId second = b.admitted(locking(task(40ms, 100ms), table, 1ms));
  CHECK(b.core_of(second) == b.core_of(first));
  const Refusal refusal = b.refused(locking(task(40ms, 100ms), table, 1ms));
  CHECK(refusal.code == RefusalCode::not_schedulable);
  CHECK(refusal.closest == b.core_of(first));
}

TEST_CASE("a task that would join the users of two cores is refused") {
  Bench b(cores_of(2));
  b.admitted(locking(task(40ms, 100ms), table, 1ms));
  b.admitted(locking(task(40ms, 100ms), journal, 1ms));
  Contract both = locking(task(1ms, 100ms), table, 1ms);
  both.uses[1] = {journal, 1ms};
  CHECK(b.refused(both).code == RefusalCode::resources_apart);
}

TEST_CASE("a repacking leaves tasks that lock resources in place") {
  Bench b(cores_of(2));
  const TaskId pinned = b.admitted(locking(task(40ms, 100ms), table, 1ms));
  const TaskId other = b.admitted(task(40ms, 100ms));
  const TaskId also_pinned = b.admitted(locking(task(30ms, 100ms), table, 1ms));
  REQUIRE(b.core_of(pinned) == b.core_of(also_pinned));
  REQUIRE(b.core_of(other) != b.core_of(pinned));
  for (int percent = 56; percent < 90; percent += 3) b.refused(task(percent * 1ms, 100ms));
}

TEST_CASE("the users of a resource leave a lost core for one and the same") {
  Bench b(cores_of(3));
  const TaskId first = b.admitted(locking(task(20ms, 100ms), table, 1ms));
  const TaskId second = b.admitted(locking(task(20ms, 100ms), table, 1ms));
  const TaskId big = b.admitted(locking(task(50ms, 100ms), table, 1ms));
  b.admitted(task(50ms, 100ms));
  b.admitted(task(50ms, 100ms));
  const CoreId lost = b.core_of(first);
  const auto commands = b.tell(CoreLost{Time{}, lost});
  CHECK(only<Evict>(commands).size() == 1);
  CHECK_FALSE(b.manager.find(big));
  CHECK(b.core_of(first) == b.core_of(second));
  CHECK(b.core_of(first) != lost);
}

TEST_CASE("a new task that waits for the core scheduler's idle instant starts only then") {
  SchedulerBench b;
  b.add(1, ten_ms, 5);
  b.arrive(0ms, 1, 1);
  CHECK(b.scheduler.join(at(0ms), TaskId{2}, ten_ms, Priority{7}).empty());
  CHECK(only<Run>(b.arrive(500us, 2, 2)).empty());
  const auto answer = b.finish(1ms, 1, 1);
  REQUIRE(only<Joined>(answer).size() == 1);
  const auto runs = only<Run>(answer);
  REQUIRE(runs.size() == 1);
  CHECK(runs[0].task == TaskId{2});
  CHECK(runs[0].released == at(1ms));
}

TEST_CASE("a task does not wait to join an idle core scheduler") {
  SchedulerBench b;
  const auto answer = SchedulerBench::copy(b.scheduler.join(at(0ms), TaskId{2}, ten_ms, Priority{7}));
  REQUIRE(only<Joined>(answer).size() == 1);
  CHECK(only<Joined>(answer)[0].task == TaskId{2});
  CHECK(SchedulerBench::copy(b.scheduler.join(at(0ms), TaskId{2}, ten_ms, Priority{7})).empty());
}

TEST_CASE("a new task waits also for a demoted job that may hold a lock") {
  SchedulerBench b;
  Contract contract = locking(ten_ms, table, 1ms);
  contract.on_overrun = OverrunPolicy::demote;
  b.add(1, contract, 5);
  b.arrive(0ms, 1, 1);
  b.scheduler.join(at(0ms), TaskId{2}, ten_ms, Priority{7});
  b.arrive(500us, 2, 2);
  CHECK(only<Run>(b.overrun(1ms, 1, 1)).empty());
  const auto answer = b.finish(3ms, 1, 1);
  CHECK(only<Joined>(answer).size() == 1);
  CHECK(only<Run>(answer).size() == 1);
}

// Across cores. In the published example, each task makes one request of one unit.

TEST_CASE("spinning for a resource of two cores gives the published responses") {
  const std::vector<SpinRequest> one{{table, 1}};
  const std::vector<SpinningTask> tasks{{0, 17, 100, one}, {1, 67, 340, one}, {0, 27, 150, one}};
  const auto responses = spin_responses(tasks);
  CHECK(responses[0].value == 20);
  CHECK(responses[1].value == 68);
  CHECK(responses[2].value == 46);
}

TEST_CASE("each request spins and a third core adds its longest section") {
  const std::vector<SpinningTask> tasks{
      {0, 10, 100, {{table, 2, 3}}}, {1, 10, 100, {{table, 4}}}, {1, 10, 100, {{table, 1}}}, {2, 5, 50, {{table, 3}}}};
  CHECK(spin_time(tasks, 0, table) == 7);
  CHECK(spin_time(tasks, 0, journal) == 0);
  CHECK(spin_responses(tasks)[0].value == 10 + 3 * 7);
}
