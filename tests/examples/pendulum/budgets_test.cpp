// The budgets that the demo declares, and which of its overruns it excuses.
#include "examples/pendulum/budgets.h"

#include <catch2/catch.hpp>

#include "examples/pendulum/overruns.h"

using namespace corelane;
using namespace corelane::pendulum;
using namespace std::chrono_literals;

TEST_CASE("a budget is the longest execution and a fifth, rounded up to a tenth of a millisecond") {
  CHECK(budget_for(1500us, usual_margin) == 1800us);
  CHECK(budget_for(1501us, usual_margin) == 1900us);
  CHECK(budget_for(Duration{1}, usual_margin) == 100us);
}

TEST_CASE("a guest whose host takes time has a larger margin") {
  CHECK(margin_by("cpu  1 2 3 4 5 6 7 0 9 10\ncpu0 1 2 3 4 5 6 7 8 9 10\n") == usual_margin);
  CHECK(margin_by("cpu  1 2 3 4 5 6 7 1 9 10\n") == margin_of_guests);
  const char* const foreign = GENERATE("", "cpu", "cpu 1 2 3 4 5 6 7", "cpu0 1 2 3 4 5 6 7 8", "cpu 1 2 3 4 5 6 7 x");
  CHECK(margin_by(foreign) == usual_margin);
}

TEST_CASE("each kind of pendulum has a sound contract, whatever was measured") {
  const Duration longest = GENERATE(as<Duration>{}, 1us, 2ms, 1s);
  const auto contracts = contracts_for({longest, longest, longest}, usual_margin);
  REQUIRE(contracts.size() == kinds.size());
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    CHECK_FALSE(fault_of(contracts[i]));
    CHECK(contracts[i].deadline == kinds[i].deadline);
    CHECK(contracts[i].budget == std::min(budget_for(longest, usual_margin), kinds[i].deadline));
  }
}

TEST_CASE("an overrun is excused when the stalls inside its own job explain it, and only then") {
  OverrunLog log;
  const rt::Current job{.task = TaskId{7}, .job = JobId{5000}, .budget = 2ms};
  log.note(job, 300us);
  rt::TaskEvent overrun{.kind = dispatch::TaskEventKind::overrun, .task = TaskId{7}, .job = JobId{5000}};
  overrun.used = 2ms;  // it also slept too long
  log.heard(overrun);
  CHECK(log.excused(TaskId{7}) == 0);
  overrun.used = 2300us + Duration{1};
  log.heard(overrun);
  CHECK(log.excused(TaskId{7}) == 0);
  overrun.used = 2300us;
  log.heard(overrun);
  CHECK(log.excused(TaskId{7}) == 1);
  overrun.job = JobId{5000 + 4096};  // another job in the same slot
  log.heard(overrun);
  CHECK(log.excused(TaskId{7}) == 1);
  CHECK(log.excused(TaskId{8}) == 0);
}

namespace {

// Task 7 was late on core 2: from 10 to 20 ms. Its bound covers 6 ms of that. Task 8 runs before it there, task 9 after
// it; each takes 3 of 20 ms. A job of task 8 took 4 ms more.
struct LateJob {
  LateJob() {
    report.cores = {{.core = CoreId{2}}};
    for (const int task : {7, 8, 9}) {
      report.tasks.emplace_back();
      report.tasks.back().task = TaskId{static_cast<std::uint32_t>(task)};
      report.tasks.back().core = CoreId{2};
      report.tasks.back().contract = make_contract(20ms, 3ms, 8ms, 0ms);
      report.tasks.back().priority = Priority{task == 8 ? 20 : task == 7 ? 10 : 5};
    }
    report.tasks[0].bound = 6ms;
    overrun.task = TaskId{8};
    overrun.used = 7ms;
    overrun.core = CoreId{2};
    overrun.release = Time{12ms};
    overrun.deadline = Time{18ms};
    overrun.finished = Time{19ms};
  }
  bool explained() const {
    OverrunLog log;
    log.heard(overrun);
    return log.explains(report.tasks[0], late, {report, platform, gaps});
  }
  // Returns whether exactly this excess over its budget, and no nanosecond less, explains the late job.
  bool needs(Duration excess) {
    const auto with = [&](Duration used) { return overrun.used = used, explained(); };
    return !with(3ms + excess - Duration{1}) && with(3ms + excess) && with(3ms + excess + Duration{1});
  }

  dispatch::ExecutiveReport report{};
  sched::PlatformLoad platform{};
  rt::GapLog gaps{8};
  const dispatch::Miss late{.release = Time{10ms}, .deadline = Time{18ms}, .finished = Time{20ms}, .core = CoreId{2}};
  rt::TaskEvent overrun{.kind = dispatch::TaskEventKind::overrun};
};

}  // namespace

TEST_CASE("a late job is explained by an overrun beside it of a job that goes before, and by no other") {
  LateJob job;
  CHECK_FALSE(OverrunLog().explains(job.report.tasks[0], job.late, {job.report, job.platform, job.gaps}));
  CHECK(job.explained());
  SECTION("its own") {
    job.overrun.task = TaskId{7};
    CHECK(job.explained());
  }
  SECTION("of a task of its own level") {
    job.report.tasks[1].priority = Priority{10};
    CHECK(job.explained());
  }
  SECTION("of one that runs after it, or that is not known") {
    job.overrun.task = GENERATE(TaskId{9}, TaskId{99});
    CHECK_FALSE(job.explained());
  }
  SECTION("on another core") {
    job.overrun.core = CoreId{3};
    CHECK_FALSE(job.explained());
  }
  SECTION("before its release") {
    job.overrun.release = Time{2ms};
    job.overrun.finished = Time{10ms};
    CHECK_FALSE(job.explained());
    job.overrun.finished += Duration{1};
    CHECK(job.explained());
  }
  SECTION("after its end") {
    job.overrun.release = Time{20ms};
    job.overrun.finished = Time{25ms};
    CHECK_FALSE(job.explained());
  }
}

TEST_CASE("an overrun explains as much lateness as it can have made") {
  LateJob job;
  SECTION("the time that it took beyond its budget") { CHECK(job.needs(4ms)); }
  SECTION("nothing when it kept its budget, and only slept for too long") {
    job.report.tasks[0].bound = 10ms;
    CHECK(job.needs(Duration{1}));
  }
  SECTION("and the jobs that could come meanwhile: 3 ms more, and one is there that takes 3 ms itself") {
    job.report.tasks[1].contract = make_contract(9ms, 3ms, 9ms, 0ms);
    CHECK(job.needs(3ms + Duration{1}));
  }
  SECTION("and so the platform's") {
    job.platform = {.budget = 1ms, .period = 8ms};  // its second job comes when the response grows by more than 1 ms
    job.report.tasks[0].bound = 7ms;
    CHECK(job.needs(2ms));
  }
  SECTION("and what the machine took meanwhile") {
    job.gaps.record({.begin = Time{10ms}, .length = 1ms, .core = CoreId{2}});
    CHECK(job.needs(3ms));
  }
  SECTION("which counts once where the job that overran was stopped by it") {
    job.gaps.record({.begin = Time{13ms}, .length = 1ms, .core = CoreId{2}});
    CHECK(job.needs(4ms));
  }
}

TEST_CASE("by deadlines the earlier one goes before, and beside a server nobody does") {
  LateJob job;
  job.overrun.task = TaskId{9};
  job.report.cores[0].order = sched::CoreOrder::deadline;
  CHECK(job.needs(2ms));
  job.overrun.deadline += Duration{1};
  CHECK_FALSE(job.explained());
  job.overrun.deadline = job.late.deadline;
  job.report.cores[0].order = sched::CoreOrder::served;
  CHECK_FALSE(job.explained());
  job.overrun.task = TaskId{7};
  CHECK(job.needs(Duration{1}));  // its server got the next budget a period later
}

TEST_CASE("the count of reported overruns leaves out lost events, which may have been misses") {
  OverrunLog log;
  rt::TaskEvent overrun{.kind = dispatch::TaskEventKind::overrun};
  log.heard(overrun);
  overrun.lost = 3;
  log.heard(overrun);
  CHECK(log.told() == 2);
}
