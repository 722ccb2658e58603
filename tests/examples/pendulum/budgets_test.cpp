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
  overrun.used = 2ms;  // and slept for too long
  log.heard(overrun);
  CHECK(log.excused(TaskId{7}) == 0);
  overrun.used = 2300us + Duration{1};
  log.heard(overrun);
  CHECK(log.excused(TaskId{7}) == 0);
  overrun.used = 2300us;
  log.heard(overrun);
  CHECK(log.excused(TaskId{7}) == 1);
  overrun.job = JobId{5000 + 4096};  // another job at the same place
  log.heard(overrun);
  CHECK(log.excused(TaskId{7}) == 1);
  CHECK(log.excused(TaskId{8}) == 0);
}

namespace {

// Task 7 was late on core 2 from 10 to 20 ms; task 8 runs before it there, task 9 after it.
struct LateJob {
  LateJob() {
    report.cores = {{.core = CoreId{2}}};
    for (const int task : {7, 8, 9}) {
      report.tasks.emplace_back();
      report.tasks.back().task = TaskId{static_cast<std::uint32_t>(task)};
      report.tasks.back().contract.budget = 3ms;
      report.tasks.back().priority = Priority{task == 8 ? 20 : task == 7 ? 10 : 5};
    }
    overrun.task = TaskId{8};
    overrun.used = 3ms + Duration{1};
    overrun.core = CoreId{2};
    overrun.release = Time{12ms};
    overrun.deadline = Time{18ms};
    overrun.finished = Time{15ms};
  }
  bool explained() const {
    OverrunLog log;
    log.heard(overrun);
    return log.explains(report.tasks[0], late, report);
  }

  dispatch::ExecutiveReport report{};
  const dispatch::Miss late{.release = Time{10ms}, .deadline = Time{18ms}, .finished = Time{20ms}, .core = CoreId{2}};
  rt::TaskEvent overrun{.kind = dispatch::TaskEventKind::overrun};
};

}  // namespace

TEST_CASE("a late job is explained by an overrun beside it of a job that goes before, and by no other") {
  LateJob job;
  CHECK_FALSE(OverrunLog().explains(job.report.tasks[0], job.late, job.report));
  CHECK(job.explained());
  SECTION("its own") {
    job.overrun.task = TaskId{7};
    CHECK(job.explained());
  }
  SECTION("of a task of its own level") {
    job.report.tasks[1].priority = Priority{10};
    CHECK(job.explained());
  }
  SECTION("not when it kept its budget, and only slept for too long") {
    job.overrun.used = 3ms;
    CHECK_FALSE(job.explained());
  }
  SECTION("of one that runs after it, or that nobody knows") {
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

TEST_CASE("by deadlines the earlier one goes before, and beside a server nobody does") {
  LateJob job;
  job.overrun.task = TaskId{9};
  job.report.cores[0].order = sched::CoreOrder::deadline;
  CHECK(job.explained());
  job.overrun.deadline += Duration{1};
  CHECK_FALSE(job.explained());
  job.overrun.deadline = job.late.deadline;
  job.report.cores[0].order = sched::CoreOrder::served;
  CHECK_FALSE(job.explained());
  job.overrun.task = TaskId{7};
  CHECK(job.explained());
}

TEST_CASE("who asks whether all overruns were told of counts those that found no room") {
  OverrunLog log;
  rt::TaskEvent overrun{.kind = dispatch::TaskEventKind::overrun};
  log.heard(overrun);
  overrun.lost = 3;
  log.heard(overrun);
  CHECK(log.told() == 5);
}
