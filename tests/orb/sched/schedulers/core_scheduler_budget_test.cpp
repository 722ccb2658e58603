// Tests budgets and suspensions: what the CoreScheduler does with a job that takes more than its contract allows.
#include <catch2/catch.hpp>
#include <vector>

#include "orb/sched/schedulers/any_scheduler.h"
#include "orb/sched/schedulers/core_scheduler.h"
#include "tests/orb/sched/schedulers/scheduler_fixture.h"

using namespace corelane;
using namespace corelane::sched;
using namespace corelane::sched::testing;
using namespace std::chrono_literals;

namespace {

Contract enforced(OverrunPolicy policy = OverrunPolicy::demote) {
  Contract contract = ten_ms;
  contract.deadline = 40ms;
  contract.on_overrun = policy;
  return contract;
}

struct ChargingBench : SchedulerBench {
  explicit ChargingBench(bool charges = true) {
    if (charges) scheduler.charge_overruns();
  }
};

}  // namespace

TEST_CASE("an overrun follows the policy of the contract and is said once") {
  const OverrunPolicy policy = GENERATE(OverrunPolicy::report, OverrunPolicy::demote, OverrunPolicy::cancel);
  const bool charges = GENERATE(false, true);
  const bool demotes = policy == OverrunPolicy::demote || (policy == OverrunPolicy::report && charges);
  ChargingBench b(charges);
  b.add(1, enforced(policy), 5);
  b.arrive(0ms, 1, 1);
  const auto answer = b.overrun(1ms, 1, 1);
  CHECK(only<Demote>(answer).size() == (demotes ? 1 : 0));
  CHECK(only<Cancel>(answer).size() == (policy == OverrunPolicy::cancel ? 1 : 0));
  CHECK(b.overrun(2ms, 1, 1).empty());
  CHECK(b.scheduler.tasks()[0].overruns == 1);
}

TEST_CASE("a job whose overrun was said while it ran has none to be said at its end") {
  AnyScheduler scheduler(scheduler_core, 8, sched::testing::timer);
  REQUIRE(scheduler.add(TaskId{1}, enforced(), Priority{5}));
  scheduler.decide(Arrived{at(0ms), JobId{1}, TaskId{1}, PeerId{}, std::nullopt});
  const auto more = [&] { return scheduler.has_overrun(TaskId{1}, JobId{1}, ten_ms.budget + 1ns); };
  CHECK(more());
  scheduler.decide(Overran{at(1ms), JobId{1}, TaskId{1}});
  CHECK_FALSE(more());
}

TEST_CASE("a demoted job leaves the core scheduler idle for others and keeps its own task waiting") {
  SchedulerBench b;
  b.add(1, enforced(), 5);
  b.add(2, ten_ms, 4);
  b.arrive(0ms, 1, 1);
  b.overrun(1ms, 1, 1);
  CHECK(b.scheduler.idle(at(2ms)));
  CHECK(only<ReportVacated>(SchedulerBench::copy(b.scheduler.vacate(at(2ms), TaskId{2}))).size() == 1);
  CHECK(only<Run>(b.arrive(10ms, 1, 2)).empty());
  CHECK(b.scheduler.idle(at(12ms)));
  CHECK(only<Run>(b.finish(13ms, 1, 1)).size() == 1);
}

TEST_CASE("jobs that waited for a demoted one are spaced anew from its end") {
  SchedulerBench b;
  b.add(1, enforced(), 5);  // T 10, J 2
  b.arrive(0ms, 1, 1);
  b.overrun(1ms, 1, 1);
  b.arrive(10ms, 1, 2);
  b.arrive(20ms, 1, 3);
  b.arrive(30ms, 1, 4);
  const auto first = only<Run>(b.finish(35ms, 1, 1));
  REQUIRE(first.size() == 1);
  CHECK(first[0].released == at(10ms));  // its deadline counts from there: its own task made it late
  CHECK(only<Arm>(b.finish(36ms, 1, 2))[0].at == at(43ms));
  CHECK(only<Run>(b.elapse(42ms)).empty());
  CHECK(only<Run>(b.elapse(43ms)).size() == 1);
  CHECK(only<Arm>(b.finish(44ms, 1, 3))[0].at == at(53ms));
}

TEST_CASE("a demoted job that ends before its successor arrives changes nothing") {
  SchedulerBench b;
  b.add(1, enforced(), 5);
  b.arrive(0ms, 1, 1);
  b.overrun(1ms, 1, 1);
  b.finish(3ms, 1, 1);
  CHECK(only<Defer>(b.arrive(5ms, 1, 2))[0].until == at(8ms));
}

TEST_CASE("a task moves only after its demoted job has ended") {
  SchedulerBench b;
  b.add(1, enforced(), 5);
  b.add(2, ten_ms, 4);
  b.arrive(0ms, 1, 1);
  b.overrun(1ms, 1, 1);
  b.arrive(2ms, 1, 2);
  CHECK(only<ReportVacated>(SchedulerBench::copy(b.scheduler.vacate(at(2ms), TaskId{1}))).empty());
  b.arrive(3ms, 2, 3);
  CHECK(only<ReportVacated>(b.finish(4ms, 2, 3)).empty());
  const auto answer = b.finish(9ms, 1, 1);
  CHECK(only<ReportVacated>(answer).size() == 1);
  CHECK(only<Run>(answer).empty());
}

TEST_CASE("a demoted thread keeps its priority until its next job runs") {
  SchedulerBench b;
  b.add(1, enforced(), 5);
  CHECK(b.scheduler.reprioritize(TaskId{1}, Priority{6}));
  b.arrive(0ms, 1, 1);
  b.overrun(1ms, 1, 1);
  CHECK_FALSE(b.scheduler.reprioritize(TaskId{1}, Priority{7}));
  b.finish(2ms, 1, 1);
  CHECK(only<Run>(b.arrive(10ms, 1, 2))[0].priority == Priority{7});
  CHECK_FALSE(b.scheduler.reprioritize(TaskId{9}, Priority{7}));
}

TEST_CASE("a job in flight that comes to another core is charged there as released now") {
  SchedulerBench b;
  b.add(1, ten_ms, 5);
  b.arrive(0ms, 1, 1);
  CoreScheduler other(CoreId{4}, 8, TimerId{10});
  other.put(at(6ms), b.scheduler.take(TaskId{1}));
  const auto early = SchedulerBench::copy(other.decide(Arrived{.at = at(9ms), .job = JobId{2}, .task = TaskId{1}}));
  CHECK(only<Defer>(early)[0].until == at(14ms));  // 6 + T - J
}

// Which job's budget is watched.

TEST_CASE("the job that runs is watched where its overrun changes something") {
  const OverrunPolicy policy = GENERATE(OverrunPolicy::report, OverrunPolicy::demote, OverrunPolicy::cancel);
  const bool charges = GENERATE(false, true);
  const bool demotes = policy == OverrunPolicy::demote || (policy == OverrunPolicy::report && charges);
  ChargingBench b(charges);
  b.add(1, enforced(policy), 5);
  const auto watches = only<Watch>(b.arrive(0ms, 1, 1));
  REQUIRE(watches.size() == (demotes || policy == OverrunPolicy::cancel ? 1 : 0));
  if (watches.empty()) return;
  CHECK(watches[0].job == JobId{1});
  CHECK(watches[0].budget == 1ms);
  CHECK(only<Watch>(b.finish(1ms, 1, 1))[0].job == JobId{});
}

TEST_CASE("a watch follows the processor through preemption suspension and overrun") {
  SchedulerBench b;
  Contract sleeper = enforced();
  sleeper.suspension = 5ms;
  b.add(1, sleeper, 5);
  b.add(2, enforced(), 4);
  const auto watched = [](const std::vector<Command>& answer) { return only<Watch>(answer).at(0).job.value; };
  CHECK(watched(b.arrive(0us, 2, 20)) == 20);
  CHECK(watched(b.arrive(100us, 1, 10)) == 10);
  CHECK(watched(b.suspend(200us, 1, 10)) == 20);
  CHECK(watched(b.resume(300us, 1, 10)) == 10);
  CHECK(watched(b.overrun(1300us, 1, 10)) == 20);
  CHECK(watched(b.finish(1500us, 2, 20)) == 0);
}

TEST_CASE("of jobs with equal priority the one that was ready first is watched") {
  SchedulerBench b;
  b.add(1, enforced(), 5);
  b.add(2, enforced(), 5);
  b.arrive(0us, 2, 20);
  CHECK(only<Watch>(b.arrive(100us, 1, 10)).empty());
  CHECK(only<Watch>(b.suspend(200us, 2, 20)).at(0).job == JobId{10});
  CHECK(only<Watch>(b.resume(300us, 2, 20)).empty());  // behind the other job of its priority
}

// If overruns are charged, the rest of a job under `report` takes the place of its task's next job. T 10, J 2, C 1.

TEST_CASE("the rest of a job has its priority again when the next one could have come at the latest") {
  ChargingBench b;
  b.add(1, enforced(OverrunPolicy::report), 5);
  b.arrive(0ms, 1, 1);
  const auto lowered = b.overrun(3ms, 1, 1, 1ms);
  CHECK(only<Demote>(lowered).size() == 1);
  CHECK(only<Arm>(lowered).at(0).at == at(12ms));
  CHECK(only<Watch>(lowered).at(0).job == JobId{});
  CHECK(b.scheduler.idle(at(4ms)));
  CHECK(only<Run>(b.elapse(11ms)).empty());
  const auto raised = b.elapse(12ms);
  REQUIRE(only<Run>(raised).size() == 1);
  CHECK(only<Run>(raised)[0].job == JobId{1});
  CHECK(only<Run>(raised)[0].priority == Priority{5});
  CHECK(only<Watch>(raised).at(0).budget == 2ms);  // one more C
  CHECK_FALSE(b.scheduler.idle(at(13ms)));
}

TEST_CASE("the rest of a job has its priority again as soon as the next one waits and may run") {
  ChargingBench b;
  b.add(1, enforced(OverrunPolicy::report), 5);
  b.arrive(0ms, 1, 1);
  b.overrun(1ms, 1, 1);
  CHECK(only<Defer>(b.arrive(4ms, 1, 2)).at(0).until == at(8ms));
  CHECK(only<Run>(b.elapse(7ms)).empty());
  CHECK(only<Run>(b.elapse(8ms)).at(0).job == JobId{1});
}

TEST_CASE("the next job has what the rest of the one before leaves of its place") {
  ChargingBench b;
  b.add(1, enforced(OverrunPolicy::report), 5);
  b.arrive(0ms, 1, 1);
  b.overrun(1ms, 1, 1, 1ms);
  b.arrive(9ms, 1, 2);
  const auto ended = b.finish(10ms, 1, 1, 1400us);
  CHECK(only<Run>(ended).at(0).job == JobId{2});
  CHECK(only<Watch>(ended).at(0).budget == 600us);
  CHECK(only<Arm>(b.overrun(11ms, 1, 2, 600us)).at(0).at == at(22ms));
  CHECK(only<Watch>(b.elapse(22ms)).at(0).budget == 1600us);
}

TEST_CASE("the next job moves on by one place where the rest of the one before leaves nothing") {
  ChargingBench b;
  b.add(1, enforced(OverrunPolicy::report), 5);
  b.arrive(0ms, 1, 1);
  b.overrun(1ms, 1, 1, 1ms);
  b.arrive(9ms, 1, 2);
  const auto ended = b.finish(10ms, 1, 1, 2ms);
  CHECK(only<Run>(ended).empty());
  CHECK(only<Arm>(ended).at(0).at == at(18ms));
  CHECK(only<Run>(b.elapse(18ms)).at(0).job == JobId{2});
}

TEST_CASE("the rest of a job's place is gone when no job waits for it") {
  ChargingBench b;
  b.add(1, enforced(OverrunPolicy::report), 5);
  b.arrive(0ms, 1, 1);
  b.overrun(1ms, 1, 1, 1ms);
  b.elapse(12ms);
  b.finish(12500us, 1, 1, 1500us);
  CHECK(only<Defer>(b.arrive(13ms, 1, 2)).at(0).until == at(20ms));  // the rest used the place at 12 ms
}

TEST_CASE("each further budget takes a further place and the overrun is counted once") {
  ChargingBench b;
  b.add(1, enforced(OverrunPolicy::report), 5);
  b.arrive(0ms, 1, 1);
  b.overrun(1ms, 1, 1, 1ms);
  b.elapse(12ms);
  const auto again = b.overrun(13ms, 1, 1, 2500us);  // it executed while it was demoted, too
  CHECK(only<Demote>(again).size() == 1);
  CHECK(only<Arm>(again).at(0).at == at(24ms));
  CHECK(only<Watch>(b.elapse(24ms)).at(0).budget == 3500us);
  CHECK(b.scheduler.tasks()[0].overruns == 1);
}

TEST_CASE("a job that ends below the others before the next place takes none") {
  ChargingBench b;
  b.add(1, enforced(OverrunPolicy::report), 5);
  b.arrive(0ms, 1, 1);
  b.overrun(1ms, 1, 1);
  CHECK(only<Arm>(b.finish(5ms, 1, 1)).at(0).at == never);
  const auto next = b.arrive(8ms, 1, 2);
  CHECK(only<Run>(next).size() == 1);
  CHECK(only<Watch>(next).at(0).budget == 1ms);
}

TEST_CASE("a job whose successor is due goes on in that one's place at once") {
  ChargingBench b;
  b.add(1, enforced(OverrunPolicy::report), 5);
  b.arrive(0ms, 1, 1);
  b.arrive(10ms, 1, 2);
  const auto answer = b.overrun(12ms, 1, 1, 1ms);
  CHECK(only<Run>(answer).at(0).job == JobId{1});
  CHECK(only<Watch>(answer).at(0).budget == 2ms);
  CHECK(only<Run>(b.finish(13ms, 1, 1, 2ms)).empty());
  CHECK(only<Run>(b.elapse(20ms)).at(0).job == JobId{2});  // spaced from 12 ms
}

TEST_CASE("a job that slept too long gets a new place once awake, with a new suspension allowance") {
  ChargingBench b;
  Contract contract = enforced(OverrunPolicy::report);
  contract.suspension = 3ms;
  b.add(1, contract, 5);
  b.arrive(0ms, 1, 1);
  b.suspend(1ms, 1, 1);
  const auto overslept = b.elapse(4ms + 1ns);
  CHECK(only<Demote>(overslept).size() == 1);
  CHECK(only<Run>(b.elapse(13ms)).empty());  // its place has come, but it sleeps
  const auto awake = b.resume(14ms, 1, 1);
  CHECK(only<Run>(awake).at(0).job == JobId{1});
  CHECK(only<Watch>(awake).at(0).budget == 1ms);  // the rest of its budget
  CHECK(only<Arm>(b.suspend(15ms, 1, 1)).at(0).at == at(18ms + 1ns));
  b.arrive(16ms, 1, 2);
  b.resume(17ms, 1, 1);
  CHECK(only<Arm>(b.finish(17ms, 1, 1, 1ms)).at(0).at == at(22ms));  // spaced from 14 ms
}

TEST_CASE("a job that waits for the next place while its core is lost has it on another one") {
  ChargingBench b;
  b.add(1, enforced(OverrunPolicy::report), 5);
  b.arrive(0ms, 1, 1);
  b.overrun(1ms, 1, 1, 1ms);
  CoreScheduler other(CoreId{4}, 8, TimerId{10});
  other.charge_overruns();
  const auto arrival = SchedulerBench::copy(other.put(at(3ms), b.scheduler.take(TaskId{1})));
  CHECK(only<Run>(arrival).empty());
  CHECK(only<Arm>(arrival).at(0).at == at(12ms));
  CHECK(only<Run>(SchedulerBench::copy(other.decide(Elapsed{at(12ms), TimerId{10}}))).at(0).job == JobId{1});
}

TEST_CASE("a task that is to move does so after the rest of its job and not in what that leaves of a place") {
  ChargingBench b;
  b.add(1, enforced(OverrunPolicy::report), 5);
  b.arrive(0ms, 1, 1);
  b.overrun(1ms, 1, 1, 1ms);
  b.scheduler.vacate(at(2ms), TaskId{1});
  b.arrive(9ms, 1, 2);
  CHECK(only<ReportVacated>(b.finish(10ms, 1, 1, 1400us)).size() == 1);
  CoreScheduler other(CoreId{4}, 8, TimerId{10});
  other.charge_overruns();
  const auto arrival = SchedulerBench::copy(other.put(at(10ms), b.scheduler.take(TaskId{1})));
  CHECK(only<Arm>(arrival).at(0).at == at(18ms));
  CHECK(only<Watch>(SchedulerBench::copy(other.decide(Elapsed{at(18ms), TimerId{10}}))).at(0).budget == 1ms);
}

// Suspensions.

TEST_CASE("a suspension within S is armed for its end and is no overrun") {
  SchedulerBench b;
  Contract contract = enforced();
  contract.suspension = 3ms;
  b.add(1, contract, 5);
  b.arrive(0ms, 1, 1);
  CHECK(only<Arm>(b.suspend(1ms, 1, 1)).at(0).at == at(4ms + 1ns));
  b.add(2, enforced(), 7);
  b.arrive(4ms, 2, 2);  // another fact, at the last instant of the suspension
  CHECK(only<Arm>(b.resume(4ms, 1, 1)).at(0).at == never);
  CHECK(b.scheduler.tasks()[0].overruns == 0);
  CHECK_FALSE(b.scheduler.idle(at(5ms)));
}

TEST_CASE("suspensions of one job add up and what exceeds S is an overrun") {
  SchedulerBench b;
  Contract contract = enforced();
  contract.suspension = 3ms;
  b.add(1, contract, 5);
  b.arrive(0ms, 1, 1);
  b.suspend(1ms, 1, 1);
  b.resume(3ms, 1, 1);
  CHECK(only<Arm>(b.suspend(5ms, 1, 1)).at(0).at == at(6ms + 1ns));
  CHECK(only<Demote>(b.elapse(6ms + 1ns)).size() == 1);
  CHECK(b.resume(9ms, 1, 1).empty());
  CHECK(b.scheduler.tasks()[0].overruns == 1);
}

TEST_CASE("an undeclared suspension is an overrun at once") {
  const OverrunPolicy policy = GENERATE(OverrunPolicy::report, OverrunPolicy::demote, OverrunPolicy::cancel);
  const bool charges = GENERATE(false, true);
  const bool demotes = policy == OverrunPolicy::demote || (policy == OverrunPolicy::report && charges);
  ChargingBench b(charges);
  b.add(1, enforced(policy), 5);
  b.arrive(0ms, 1, 1);
  const auto answer = b.suspend(0ms, 1, 1);
  CHECK(only<Demote>(answer).size() == (demotes ? 1 : 0));
  CHECK(only<Cancel>(answer).size() == (policy == OverrunPolicy::cancel ? 1 : 0));
  CHECK(only<Arm>(answer).empty());
  CHECK(b.scheduler.tasks()[0].overruns == 1);
}

TEST_CASE("a suspended job keeps the core scheduler from being idle until it is demoted") {
  SchedulerBench b;
  Contract contract = enforced();
  contract.suspension = 3ms;
  b.add(1, contract, 5);
  b.arrive(0ms, 1, 1);
  b.suspend(1ms, 1, 1);
  CHECK_FALSE(b.scheduler.idle(at(2ms)));
  b.elapse(4ms + 1ns);
  CHECK(b.scheduler.idle(at(5ms)));
}

// Error paths.

TEST_CASE("facts about jobs that do not run change no budget") {
  SchedulerBench b;
  b.add(1, enforced(), 5);
  b.arrive(0ms, 1, 1);
  CHECK(b.overrun(1ms, 1, 7).empty());
  CHECK(b.suspend(1ms, 1, 7).empty());
  CHECK(b.resume(1ms, 1, 1).empty());
  CHECK(b.suspend(1ms, 9, 1).empty());
  CHECK(b.scheduler.tasks()[0].overruns == 0);
}
