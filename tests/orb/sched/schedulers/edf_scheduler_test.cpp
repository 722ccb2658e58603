#include "orb/sched/schedulers/edf_scheduler.h"

#include "tests/orb/sched/schedulers/scheduler_fixture.h"

using namespace corelane;
using namespace corelane::sched;
using namespace corelane::sched::testing;
using namespace std::chrono_literals;

namespace {

constexpr Contract contract(Duration period, Duration deadline, Duration budget) {
  return {.period = period, .deadline = deadline, .budget = budget};
}

class EdfBench {
 public:
  EdfScheduler scheduler{scheduler_core, 8, timer};

  void add(std::uint64_t task, const Contract& c) { REQUIRE(scheduler.add(TaskId{task}, c, Priority{1})); }
  std::vector<Command> arrive(Duration when, std::uint64_t task, std::uint64_t job) {
    return tell(Arrived{at(when), JobId{job}, TaskId{task}, PeerId{}, std::nullopt});
  }
  std::vector<Command> finish(Duration when, std::uint64_t task, std::uint64_t job) {
    return tell(Finished{at(when), JobId{job}, TaskId{task}, Duration{}});
  }
  std::vector<Command> overrun(Duration when, std::uint64_t task, std::uint64_t job, Duration used = 2ms) {
    return tell(Overran{at(when), JobId{job}, TaskId{task}, used});
  }
  std::vector<Command> tell(const Fact& fact) { return SchedulerBench::copy(scheduler.decide(fact)); }
};

}  // namespace

TEST_CASE("the job of the earliest deadline is the one that is watched") {
  EdfBench b;
  b.add(1, contract(50ms, 50ms, 5ms));
  b.add(2, contract(20ms, 10ms, 2ms));
  auto watches = only<Watch>(b.arrive(0ms, 1, 1));
  REQUIRE(watches.size() == 1);
  CHECK(watches[0].job == JobId{1});
  CHECK(watches[0].budget == 5ms);
  const auto answer = b.arrive(1ms, 2, 2);
  REQUIRE(only<Run>(answer).size() == 1);
  CHECK(only<Run>(answer)[0].deadline == at(11ms));
  REQUIRE(only<Watch>(answer).size() == 1);
  CHECK(only<Watch>(answer)[0].job == JobId{2});
  watches = only<Watch>(b.finish(3ms, 2, 2));
  REQUIRE(watches.size() == 1);
  CHECK(watches[0].job == JobId{1});
}

TEST_CASE("among equal deadlines the older job is the one that runs") {
  EdfBench b;
  b.add(1, contract(20ms, 20ms, 5ms));
  b.add(2, contract(10ms, 10ms, 2ms));
  b.arrive(0ms, 1, 1);
  CHECK(only<Watch>(b.arrive(10ms, 2, 2)).empty());
}

TEST_CASE("a jittered job's place is J before its deadline") {
  EdfBench b;
  b.add(1, contract(20ms, 10ms, 2ms));
  b.add(2, Contract{.period = 20ms, .deadline = 12ms, .budget = 1ms, .jitter = 3ms});
  b.arrive(0ms, 1, 1);
  const auto answer = b.arrive(0ms, 2, 2);
  CHECK(only<Run>(answer)[0].deadline == at(12ms));
  REQUIRE(only<Watch>(answer).size() == 1);
  CHECK(only<Watch>(answer)[0].job == JobId{2});
  CHECK(demand_of(b.scheduler.tasks()[1].contract).deadline == Ticks{9'000'000});
}

TEST_CASE("early jobs wait in an EDF scheduler as in any other") {
  EdfBench b;
  b.add(1, ten_ms);
  b.arrive(0ms, 1, 1);
  b.finish(1ms, 1, 1);
  const auto answer = b.arrive(3ms, 1, 2);
  REQUIRE(only<Defer>(answer).size() == 1);
  REQUIRE(only<Arm>(answer).size() == 1);
  CHECK(only<Arm>(answer)[0].at == at(8ms));
  const auto runs = only<Run>(b.tell(Elapsed{at(8ms), timer}));
  REQUIRE(runs.size() == 1);
  CHECK(runs[0].deadline == at(16ms));
}

TEST_CASE("the rest of a job that overran gets the deadline of the next one and leaves it a later release") {
  EdfBench b;
  b.add(1, contract(10ms, 10ms, 2ms));
  b.arrive(0ms, 1, 1);
  const auto answer = b.overrun(2ms, 1, 1);
  REQUIRE(only<Run>(answer).size() == 1);
  CHECK(only<Run>(answer)[0].job == JobId{1});
  CHECK(only<Run>(answer)[0].released == at(0ms));
  CHECK(only<Run>(answer)[0].deadline == at(20ms));
  REQUIRE(only<Watch>(answer).size() == 1);
  CHECK(only<Watch>(answer)[0].budget == 4ms);
  CHECK(only<Run>(b.overrun(4ms, 1, 1, 4ms))[0].deadline == at(30ms));
  b.finish(5ms, 1, 1);
  CHECK(only<Defer>(b.arrive(10ms, 1, 2))[0].until == at(30ms));
  CHECK(b.scheduler.tasks()[0].overruns == 1);
}

TEST_CASE("jobs that wait behind an overrun move on by one place") {
  EdfBench b;
  b.add(1, Contract{.period = 10ms, .deadline = 20ms, .budget = 2ms});
  b.arrive(0ms, 1, 1);
  b.arrive(10ms, 1, 2);
  const auto overrun = only<Run>(b.overrun(11ms, 1, 1));
  REQUIRE(overrun.size() == 1);
  CHECK(overrun[0].deadline == at(31ms));  // the second job's place at 10 ms, but not before now
  CHECK(only<Run>(b.finish(12ms, 1, 1)).empty());
  const auto runs = only<Run>(b.tell(Elapsed{at(21ms), timer}));
  REQUIRE(runs.size() == 1);
  CHECK(runs[0].job == JobId{2});
  CHECK(runs[0].deadline == at(41ms));
}

TEST_CASE("under demote and cancel the rest of a job runs below all others and is watched no more") {
  for (const OverrunPolicy policy : {OverrunPolicy::demote, OverrunPolicy::cancel}) {
    EdfBench b;
    Contract c = contract(10ms, 10ms, 2ms);
    c.on_overrun = policy;
    b.add(1, c);
    b.arrive(0ms, 1, 1);
    const auto answer = b.overrun(2ms, 1, 1);
    CHECK(only<Demote>(answer).size() + only<Cancel>(answer).size() == 1);
    CHECK(only<Run>(answer).empty());
    REQUIRE(only<Watch>(answer).size() == 1);
    CHECK(only<Watch>(answer)[0].job == JobId{});
    CHECK(only<Run>(b.overrun(4ms, 1, 1)).empty());
    b.arrive(15ms, 1, 2);
    const auto runs = only<Run>(b.finish(16ms, 1, 1));
    REQUIRE(runs.size() == 1);
    CHECK(runs[0].deadline == at(26ms));  // counts from the end of the demoted job
  }
}

TEST_CASE("a job that slept too long wakes with a later deadline") {
  EdfBench b;
  Contract c = contract(10ms, 10ms, 2ms);
  c.suspension = 1ms;
  b.add(1, c);
  b.add(2, contract(30ms, 30ms, 5ms));
  b.arrive(0ms, 2, 1);
  b.arrive(0ms, 1, 2);
  const auto asleep = only<Watch>(b.tell(Suspended{at(1ms), JobId{2}, TaskId{1}}));
  REQUIRE(asleep.size() == 1);
  CHECK(asleep[0].job == JobId{1});
  SECTION("within its suspension nothing changes") {
    CHECK(only<Run>(b.tell(Resumed{at(2ms), JobId{2}, TaskId{1}})).empty());
  }
  SECTION("beyond it the job takes the next place") {
    const auto runs = only<Run>(b.tell(Resumed{at(9ms), JobId{2}, TaskId{1}}));
    REQUIRE(runs.size() == 1);
    CHECK(runs[0].deadline == at(20ms));
  }
}

TEST_CASE("a task moves to an EDF scheduler and back with its waiting jobs") {
  EdfBench b;
  CoreScheduler other{CoreId{4}, 8, TimerId{10}};
  b.add(1, ten_ms);
  b.arrive(0ms, 1, 1);
  CHECK(only<ReportVacated>(SchedulerBench::copy(b.scheduler.vacate(at(0ms), TaskId{1}))).empty());
  b.arrive(6ms, 1, 2);
  CHECK(only<ReportVacated>(b.finish(7ms, 1, 1)).size() == 1);
  other.put(at(7ms), b.scheduler.take(TaskId{1}));
  CHECK(b.scheduler.tasks().empty());
  REQUIRE(other.tasks().size() == 1);
  const auto back = SchedulerBench::copy(b.scheduler.put(at(8ms), other.take(TaskId{1})));
  REQUIRE(only<Run>(back).size() == 1);
  CHECK(only<Run>(back)[0].job == JobId{2});
}

TEST_CASE("a vacated task that overruns is still vacated") {
  EdfBench b;
  b.add(1, contract(10ms, 10ms, 2ms));
  b.arrive(0ms, 1, 1);
  b.scheduler.vacate(at(1ms), TaskId{1});
  b.overrun(2ms, 1, 1);
  CHECK(only<ReportVacated>(b.finish(3ms, 1, 1)).size() == 1);
}

TEST_CASE("a job that comes along with its task counts as released on arrival") {
  EdfBench b;
  EdfScheduler other{CoreId{4}, 8, TimerId{10}};
  b.add(1, contract(10ms, 10ms, 2ms));
  b.arrive(0ms, 1, 1);
  const auto runs = only<Run>(SchedulerBench::copy(other.put(at(4ms), b.scheduler.take(TaskId{1}))));
  REQUIRE(runs.size() == 1);
  CHECK(runs[0].deadline == at(14ms));
}

TEST_CASE("a job that waited for a move has the deadline of its release on the new core") {
  EdfBench from;
  from.add(1, contract(10ms, 10ms, 2ms));
  (void)from.scheduler.vacate(at(0ms), TaskId{1});
  from.arrive(1ms, 1, 1);
  EdfBench to;
  const auto runs = only<Run>(SchedulerBench::copy(to.scheduler.put(at(4ms), from.scheduler.take(TaskId{1}))));
  REQUIRE(runs.size() == 1);
  CHECK(runs[0].deadline == at(14ms));
}

TEST_CASE("a job that is said to overrun while it has some of its budget left, asleep, has one budget in its place") {
  EdfBench b;
  b.add(1, contract(10ms, 10ms, 2ms));
  b.arrive(0ms, 1, 1);
  b.overrun(3ms, 1, 1, 500us);
  CHECK(b.scheduler.granted(TaskId{1}, JobId{1}) == 2500us);
}

TEST_CASE("a job that sleeps on is watched again after each overrun that is told of it") {
  EdfBench b;
  b.add(1, contract(10ms, 10ms, 2ms));
  b.arrive(0ms, 1, 1);
  for (const Duration when : {3ms, 6ms, 9ms}) {
    const auto watches = only<Watch>(b.overrun(when, 1, 1, 500us));
    REQUIRE(watches.size() == 1);
    CHECK(watches[0].budget == 2500us);
  }
}

TEST_CASE("the time that a job uses before its overrun is reported is charged to its next place") {
  EdfBench b;
  b.add(1, contract(10ms, 10ms, 2ms));
  b.arrive(0ms, 1, 1);
  CHECK(only<Watch>(b.overrun(3ms, 1, 1, 2300us)).at(0).budget == 4ms);
}

TEST_CASE("a job that comes from another core is charged one place for all that it used there") {
  EdfBench b;
  CoreScheduler from(CoreId{1}, 8, TimerId{1});
  REQUIRE(from.add(TaskId{1}, contract(10ms, 10ms, 2ms), Priority{1}));
  from.decide(Arrived{at(0ms), JobId{1}, TaskId{1}, PeerId{}, std::nullopt});
  b.scheduler.put(at(9ms), from.take(TaskId{1}));
  const auto answer = b.overrun(9ms, 1, 1, 9ms);
  CHECK(only<Run>(answer).size() == 1);
  CHECK(only<Watch>(answer).at(0).budget == 11ms);
  CHECK(only<Watch>(b.overrun(12ms, 1, 1, 11500us)).at(0).budget == 13ms);
}

TEST_CASE("the time that a job may use grows with each overrun that is reported") {
  EdfBench b;
  b.add(1, contract(10ms, 10ms, 2ms));
  b.arrive(0ms, 1, 1);
  CHECK(b.scheduler.granted(TaskId{1}, JobId{1}) == 2ms);
  b.overrun(2ms, 1, 1);
  CHECK(b.scheduler.granted(TaskId{1}, JobId{1}) == 4ms);
  b.finish(3ms, 1, 1);
  CHECK(b.scheduler.granted(TaskId{1}, JobId{1}) == Duration::max());
}
