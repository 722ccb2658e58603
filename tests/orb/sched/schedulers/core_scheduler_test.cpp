#include "orb/sched/schedulers/core_scheduler.h"

#include <catch2/catch.hpp>
#include <utility>
#include <vector>

#include "tests/orb/sched/schedulers/scheduler_fixture.h"

using namespace corelane;
using namespace corelane::sched;
using namespace corelane::sched::testing;
using namespace std::chrono_literals;

TEST_CASE("a job on time runs at once with its deadline") {
  SchedulerBench b;
  b.add(1, ten_ms, 5);
  const auto runs = only<Run>(b.arrive(1ms, 1, 100));
  REQUIRE(runs.size() == 1);
  CHECK(runs[0].job == JobId{100});
  CHECK(runs[0].priority == Priority{5});
  CHECK(runs[0].released == at(1ms));
  CHECK(runs[0].deadline == at(9ms));
}

TEST_CASE("an early job waits until TAT - J and is armed for it") {
  SchedulerBench b;
  b.add(1, ten_ms, 5);
  b.arrive(0ms, 1, 1);
  b.finish(1ms, 1, 1);
  const auto answer = b.arrive(3ms, 1, 2);
  REQUIRE(only<Defer>(answer).size() == 1);
  CHECK(only<Defer>(answer)[0].until == at(8ms));
  REQUIRE(only<Arm>(answer).size() == 1);
  CHECK(only<Arm>(answer)[0].at == at(8ms));
  CHECK(only<Run>(b.elapse(7ms)).empty());
  const auto runs = only<Run>(b.elapse(8ms));
  REQUIRE(runs.size() == 1);
  CHECK(runs[0].released == at(8ms));
}

TEST_CASE("a job within its jitter is not early, and one that is late resets the schedule") {
  SchedulerBench b;
  b.add(1, ten_ms, 5);
  b.arrive(0ms, 1, 1);
  b.finish(1ms, 1, 1);
  CHECK(only<Run>(b.arrive(8ms, 1, 2)).size() == 1);  // TAT 10, J 2
  b.finish(9ms, 1, 2);
  CHECK(only<Run>(b.arrive(35ms, 1, 3)).size() == 1);
  b.finish(36ms, 1, 3);
  CHECK(only<Defer>(b.arrive(42ms, 1, 4))[0].until == at(43ms));
}

TEST_CASE("after one stall each job of the old timetable waits as long, until one is left out") {
  SchedulerBench b;
  b.add(1, ten_ms, 5);
  std::uint64_t job = 0;
  const auto delay_of = [&](Duration when) {
    const auto deferred = only<Defer>(b.arrive(when, 1, ++job));
    const Time begins = deferred.empty() ? at(when) : deferred[0].until;
    b.elapse(begins.time_since_epoch());
    b.finish(begins.time_since_epoch() + 1ms, 1, job);
    return begins - at(when);
  };
  CHECK(delay_of(0ms) == 0ms);
  CHECK(delay_of(15ms) == 0ms);  // 5 ms late, 3 ms more than J
  for (int i = 2; i < 20; ++i) CHECK(delay_of(i * 10ms) == 3ms);
  CHECK(delay_of(210ms) == 0ms);  // no job came at 200 ms
  CHECK(delay_of(220ms) == 0ms);
}

TEST_CASE("a caller in a hurry gets one job per period, however often it sends") {
  SchedulerBench b;
  b.add(1, ten_ms, 5);
  std::vector<Time> starts;
  std::uint64_t running = 0;
  const auto note = [&](const std::vector<Command>& answer) {
    for (const Run& run : only<Run>(answer)) starts.push_back(run.released), running = run.job.value;
  };
  for (std::uint64_t ms = 0; ms < 200; ++ms) {
    note(b.elapse(Duration{ms * 1'000'000}));
    note(b.arrive(Duration{ms * 1'000'000}, 1, ms + 1));
    if (running != 0) note(b.finish(Duration{ms * 1'000'000 + 500'000}, 1, std::exchange(running, 0)));
  }
  CHECK(starts.size() == 21);  // 0, 8, 18, 28, ... 198
  for (std::size_t i = 2; i < starts.size(); ++i) CHECK(starts[i] - starts[i - 1] >= 10ms);
}

TEST_CASE("jobs of one task run one after another and those of two at their priorities") {
  SchedulerBench b;
  Contract loose = ten_ms;
  loose.deadline = 40ms;
  b.add(1, loose, 5);
  b.add(2, loose, 7);
  b.arrive(0ms, 1, 1);
  CHECK(only<Run>(b.arrive(10ms, 1, 2)).empty());
  CHECK(only<Run>(b.arrive(10ms, 2, 3)).size() == 1);
  const auto next = only<Run>(b.finish(11ms, 1, 1));
  REQUIRE(next.size() == 1);
  CHECK(next[0].job == JobId{2});
  CHECK(next[0].released == at(10ms));
}

TEST_CASE("jobs that become eligible together start in the order of priority") {
  SchedulerBench b;
  b.add(1, ten_ms, 5);
  b.add(2, ten_ms, 7);
  for (const std::uint64_t task : {1U, 2U}) {
    b.arrive(0ms, task, task);
    b.finish(1ms, task, task);
    b.arrive(2ms, task, task + 10);
  }
  const auto runs = only<Run>(b.elapse(8ms));
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].task == TaskId{2});
  CHECK(runs[1].task == TaskId{1});
}

TEST_CASE("a vacated task is held from the idle instant on and starts again elsewhere") {
  SchedulerBench b;
  b.add(1, ten_ms, 5);
  b.add(2, ten_ms, 4);
  b.arrive(0ms, 1, 1);
  b.arrive(0ms, 2, 2);
  CHECK(only<ReportVacated>(SchedulerBench::copy(b.scheduler.vacate(at(0ms), TaskId{1}))).empty());
  CHECK(only<ReportVacated>(b.finish(1ms, 1, 1)).empty());  // task 2 still runs
  const auto report = only<ReportVacated>(b.finish(2ms, 2, 2));
  REQUIRE(report.size() == 1);
  CHECK(report[0].task == TaskId{1});
  CHECK(only<Run>(b.arrive(10ms, 1, 3)).empty());

  CoreScheduler other(CoreId{4}, 8, TimerId{10});
  const auto moved = SchedulerBench::copy(other.put(at(11ms), b.scheduler.take(TaskId{1})));
  REQUIRE(only<Run>(moved).size() == 1);
  CHECK(only<Run>(moved)[0].job == JobId{3});
  CHECK(b.scheduler.take(TaskId{1}).id == no_task);
}

TEST_CASE("a task leaves an idle core scheduler at once and a busy one at its idle instant") {
  SchedulerBench b;
  b.add(1, ten_ms, 5);
  b.add(2, ten_ms, 4);
  CHECK(only<ReportVacated>(SchedulerBench::copy(b.scheduler.dismiss(at(0ms), TaskId{1}))).size() == 1);
  CHECK(b.scheduler.tasks().size() == 1);
  b.arrive(0ms, 2, 1);
  b.arrive(1ms, 2, 2);
  const auto answer = SchedulerBench::copy(b.scheduler.dismiss(at(2ms), TaskId{2}));
  REQUIRE(only<Cancel>(answer).size() == 1);
  CHECK(only<Cancel>(answer)[0].job == JobId{2});
  CHECK(only<ReportVacated>(answer).empty());
  CHECK(only<ReportVacated>(b.finish(3ms, 2, 1)).size() == 1);
  CHECK(b.scheduler.tasks().empty());
}

TEST_CASE("an instant is idle though a job becomes eligible at it") {
  SchedulerBench b;
  b.add(1, ten_ms, 5);
  b.add(2, ten_ms, 4);
  b.arrive(0ms, 1, 1);
  b.finish(1ms, 1, 1);
  b.arrive(2ms, 1, 2);  // waits until 8 ms
  b.arrive(5ms, 2, 3);
  b.copy(b.scheduler.vacate(at(6ms), TaskId{1}));
  const auto answer = b.finish(8ms, 2, 3);
  CHECK(only<ReportVacated>(answer).size() == 1);
  CHECK(only<Run>(answer).empty());
}

// Early jobs at idle instants.

TEST_CASE("an early job starts at once on an idle core scheduler if that is allowed") {
  SchedulerBench b;
  b.scheduler.allow_early(true);
  b.add(1, ten_ms, 5);
  b.arrive(0ms, 1, 1);
  b.finish(1ms, 1, 1);
  const auto answer = b.arrive(3ms, 1, 2);
  REQUIRE(only<Run>(answer).size() == 1);
  CHECK(only<Run>(answer)[0].released == at(3ms));
  CHECK(only<Defer>(answer).empty());
  CHECK(b.scheduler.tasks()[0].deferred == 0);
}

TEST_CASE("an early job waits while the core scheduler is busy and starts when it is idle") {
  SchedulerBench b;
  b.scheduler.allow_early(true);
  b.add(1, ten_ms, 5);
  b.add(2, ten_ms, 4);
  b.arrive(0ms, 1, 1);
  b.finish(1ms, 1, 1);
  b.arrive(2ms, 2, 2);
  CHECK(only<Defer>(b.arrive(3ms, 1, 3)).size() == 1);
  const auto runs = only<Run>(b.finish(5ms, 2, 2));
  REQUIRE(runs.size() == 1);
  CHECK(runs[0].job == JobId{3});
  CHECK(runs[0].released == at(5ms));
  CHECK(runs[0].deadline == at(13ms));
}

TEST_CASE("after an early start the next period counts from it") {
  SchedulerBench b;
  b.scheduler.allow_early(true);
  b.add(1, ten_ms, 5);
  b.add(2, ten_ms, 4);
  b.arrive(0ms, 1, 1);
  b.finish(1ms, 1, 1);
  b.arrive(4ms, 1, 2);  // starts now, so TAT is 14
  b.arrive(4ms, 2, 3);  // keeps the core scheduler busy
  b.finish(5ms, 1, 2);
  const auto deferred = only<Defer>(b.arrive(6ms, 1, 4));
  REQUIRE(deferred.size() == 1);
  CHECK(deferred[0].until == at(12ms));
}

TEST_CASE("an arrival that is told late counts from when it was and starts an early job no sooner") {
  SchedulerBench b;
  b.add(1, ten_ms, 5);
  b.add(2, ten_ms, 4);
  b.scheduler.allow_early(true);
  b.arrive(0ms, 1, 1);
  b.arrive(0ms, 2, 2);
  b.finish(1ms, 2, 2);
  b.finish(3ms, 1, 1);
  const auto due = b.arrive(12ms, 1, 3);
  REQUIRE(only<Run>(due).size() == 1);
  b.finish(14ms, 1, 3);
  const auto late = b.arrive(13ms, 2, 4);  // it arrived while the other job ran
  REQUIRE(only<Run>(late).size() == 1);
  CHECK(only<Run>(late)[0].released == at(13ms));
  b.finish(15ms, 2, 4);
  const auto early = b.arrive(14500us, 1, 5);  // due at 20 ms, and the core scheduler was busy until 15 ms
  REQUIRE(only<Run>(early).size() == 1);
  CHECK(only<Run>(early)[0].released == at(15ms));
  CHECK(b.scheduler.tasks().front().tat == at(25ms));
}

TEST_CASE("a task that is to leave its core starts no early job at the idle instant") {
  SchedulerBench b;
  b.scheduler.allow_early(true);
  b.add(1, ten_ms, 5);
  b.add(2, ten_ms, 4);
  b.arrive(0ms, 1, 1);
  b.finish(1ms, 1, 1);
  b.arrive(2ms, 2, 2);
  b.arrive(3ms, 1, 3);
  b.copy(b.scheduler.vacate(at(4ms), TaskId{1}));
  const auto answer = b.finish(5ms, 2, 2);
  CHECK(only<ReportVacated>(answer).size() == 1);
  CHECK(only<Run>(answer).empty());
}

// Error paths.

TEST_CASE("one early job waits and the next is refused as waiting") {
  SchedulerBench b;
  b.add(1, ten_ms, 5);
  b.arrive(0ms, 1, 1);
  CHECK(only<Defer>(b.arrive(1ms, 1, 2)).size() == 1);
  const auto refused = only<Refuse>(b.arrive(2ms, 1, 3));
  REQUIRE(refused.size() == 1);
  CHECK(refused[0].reason.code == RefusalCode::job_waiting);
}

TEST_CASE("a backlog of eligible jobs is bounded") {
  SchedulerBench b;
  b.add(1, ten_ms, 5);
  b.arrive(0ms, 1, 1);
  for (std::uint64_t i = 1; i <= max_waiting; ++i) CHECK(only<Refuse>(b.arrive(i * 10ms, 1, i + 1)).empty());
  CHECK(only<Refuse>(b.arrive((max_waiting + 1) * 10ms, 1, 99)).size() == 1);
}

TEST_CASE("facts about tasks and jobs that the core scheduler does not know change nothing") {
  SchedulerBench b;
  b.add(1, ten_ms, 5);
  CHECK(only<Refuse>(b.arrive(0ms, 7, 1))[0].reason.code == RefusalCode::unknown_task);
  b.arrive(0ms, 1, 2);
  b.finish(1ms, 1, 77);
  CHECK_FALSE(b.scheduler.idle(at(1ms)));
  CHECK(SchedulerBench::copy(b.scheduler.decide(Overran{at(1ms), JobId{77}, TaskId{1}})).empty());
  CHECK_FALSE(b.scheduler.add(TaskId{1}, ten_ms, Priority{1}));
}
