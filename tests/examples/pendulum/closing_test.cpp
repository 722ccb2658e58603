// The demo's closing text.
#include "examples/pendulum/closing.h"

#include <catch2/catch.hpp>

using namespace corelane;
using namespace corelane::pendulum;
using namespace std::chrono_literals;
using Catch::Contains;

namespace {

// A demo with one pendulum that was admitted as task 7 and two that were refused.
struct Demo {
  Demo() {
    row().task = 7;
    row().jobs = 350;
    participants[0].answer = {.admitted = true, .task = 7, .reason = {}};
    participants[0].report.stands = true;
    participants[1].answer.reason = participants[2].answer.reason = "there is no room";
    for (int i = 0; i < 3; ++i) participants[static_cast<std::size_t>(i)].number = i + 1;
    participants[0].contract = make_contract(10ms, 2100us, 8ms);
  }
  TaskRow& row() { return report.tasks[0]; }
  Closing closing(Conditions conditions = {}) const { return closing_of(participants, ready, report, conditions); }

  std::vector<Participant> participants{3};
  ServerReady ready{};
  ServerReport report{.tasks = std::vector<TaskRow>(1)};
};

}  // namespace

TEST_CASE("the closing table shows what each task declared, and each overrun") {
  Demo demo;
  demo.row().overruns = 28;
  demo.row().excused_overruns = 3;
  const std::string text = demo.closing().text;
  CHECK_THAT(text, Contains("jobs  over C  late  broken"));
  CHECK_THAT(text, Contains("pendulum 1     7    10     8   2.1") && Contains("350      25     0       0"));
  CHECK_THAT(text, Contains("But 25 jobs used more than the declared budget."));
}

TEST_CASE("the verdict comes first, in lines that need no table") {
  const std::string text = Demo().closing().text;
  CHECK(text.starts_with(
      "\n3 pendulums asked for a task of the control service: 1 admitted, 2 refused before it started.\n"
      "Standing: 1. Fallen: 0.\n"
      "Deadlines missed: 0 of 350.\n"
      "Every promise was kept: no admitted task missed a deadline for a reason inside the program.\n"
      "The contrast: --no-admission starts all pendulums, and deadlines are missed.\n\n"));
}

TEST_CASE("a trace of a missed deadline is named with the command that shows it") {
  CHECK_THAT(
      Demo().closing({.traces = {"/run/t/corelane-pendulum-7-miss-1.cltrace"}, .tool = "/b/corelane"}).text,
      Contains("\n  /b/corelane trace --output demo.perfetto-trace /run/t/corelane-pendulum-7-miss-1.cltrace\n"));
  CHECK_THAT(Demo().closing().text, !Contains(" trace --output"));
}

TEST_CASE("refusals for the same reason stand together") {
  CHECK_THAT(Demo().closing().text, Contains("\nRefused: 2, 3: there is no room\n"));
}

TEST_CASE("the verdict says whether every promise was kept, and what was only luck") {
  struct Case {
    std::uint64_t overruns, misses, excused, for_budgets, failed;
    int status;
    const char* said;
  };
  const Case c =
      GENERATE(Case{0, 0, 0, 0, 0, 0,
                    "Every promise was kept: no admitted task missed a deadline for a reason inside the program.\n"},
               Case{0, 2, 2, 0, 0, 0,
                    "Deadlines missed: 2 of 350 (2 while the machine stalled, 0 after a job exceeded its budget, 0 "
                    "otherwise).\n"},
               Case{5, 3, 1, 2, 0, 0, "No promise was broken, but 2 deadlines were missed beside jobs that took more"},
               Case{5, 4, 1, 2, 0, 1, "A PROMISE WAS BROKEN: an admitted task missed a deadline"},
               Case{0, 2, 1, 0, 0, 1, "A PROMISE WAS BROKEN: an admitted task missed a deadline"},
               Case{0, 0, 0, 0, 4, 1, "A PROMISE WAS BROKEN: 4 calls of admitted tasks failed.\n"},
               Case{5, 0, 0, 0, 0, 0,
                    "But 5 jobs used more than the declared budget. Those deadlines were kept because there was room"});
  Demo demo;
  demo.row().overruns = c.overruns;
  demo.row().misses = c.misses;
  demo.row().excused = c.excused;
  demo.row().for_budgets = c.for_budgets;
  demo.participants[0].report.failed = c.failed;
  CHECK(demo.closing().status == c.status);
  CHECK_THAT(demo.closing().text, Contains(c.said));
}

TEST_CASE("time that the kernel throttled the tasks is reported as the kernel's and not as the machine's") {
  Demo demo;
  CHECK_THAT(demo.closing().text, !Contains("sched_rt_runtime_us"));
  demo.report.throttles = 5;
  demo.report.throttled = 250'100;
  CHECK_THAT(demo.closing().text, Contains("kept the real-time threads from a core 5 times, for 250.10 ms in all: ") &&
                                      Contains("sched_rt_runtime_us"));
}

TEST_CASE("a pendulum that ended before its time is no fallen one") {
  Demo demo;
  demo.participants[0].ended = "killed by signal 9 (Killed)";
  demo.participants[0].report = {};
  CHECK(demo.closing().status == 0);
  CHECK_THAT(demo.closing().text, Contains("\nStanding: 0. Fallen: 0. Ended before their time: 1.\n") &&
                                      Contains("pendulum 1 ended before its time: killed by signal 9"));
}

TEST_CASE("a pendulum that had no answer is no fallen one in the table nor in the sum") {
  Demo demo;
  demo.participants[0].report = {};
  demo.participants[0].report.trouble = "TIMEOUT";
  CHECK_THAT(demo.closing().text, Contains("  no answer\n") && !Contains("FELL") &&
                                      Contains("\nStanding: 0. Fallen: 0. Without an answer: 1.\n"));
}

TEST_CASE("the brief reason of a refusal is its first clause") {
  CHECK(brief_reason("there is no room") == "there is no room");
  CHECK(brief_reason("a deadline would be missed on every core; closest is core 1") ==
        "a deadline would be missed on every core");
  CHECK(brief_reason(std::string(81, 'x')) == std::string(80, 'x') + "...");
  CHECK(brief_reason("").empty());
}

TEST_CASE("a service that ended before its time leaves no table, and its promises unknown") {
  const Closing closing = Demo().closing({.service_end = "exit status 3"});
  CHECK(closing.status == 1);
  CHECK_THAT(closing.text, Contains("ended before its time (exit status 3)") && !Contains("over C"));
}

TEST_CASE("a demo that was ended before its pendulums were started tells of no pendulum that ran") {
  const bool promises = GENERATE(true, false);
  Demo demo;
  demo.ready.promises = promises;
  const Closing closing = demo.closing({.swung = false});
  CHECK(closing.status == 1);
  CHECK_THAT(closing.text, Contains("ended before its pendulums were started") && !Contains("pendulums asked") &&
                               !Contains("over C") && !Contains("promise"));
}

// Errors.

TEST_CASE("without promises none can be broken, and without admissions nothing was shown") {
  Demo demo;
  demo.row().misses = 9;
  demo.row().excused = 2;
  demo.ready.promises = false;
  CHECK(demo.closing({.admission = false}).status == 0);
  CHECK_THAT(demo.closing({.admission = false}).text,
             Contains("Deadlines missed: 9 of 350 (2 while the machine stalled, 0 after a job exceeded its budget, 7 "
                      "otherwise).\n") &&
                 Contains("350       0     7       -  ") && !Contains("broken:") && !Contains("The promise is"));
  CHECK_THAT(demo.closing({.admission = false}).text, Contains("The contrast: run the demo without --no-admission.\n"));
  demo.ready.unpromising = "-ORBDispatchAdmission off";
  CHECK_THAT(demo.closing().text, Contains("The contrast: run the demo without -ORBDispatchAdmission off.\n"));
  demo.ready.promises = true;
  demo.participants.erase(demo.participants.begin());
  CHECK(demo.closing().status == 1);
  CHECK_THAT(demo.closing().text, Contains("No pendulum was admitted, so nothing was shown"));
}

TEST_CASE("a promise broken without real-time priorities says that this is to be expected") {
  Demo demo;
  demo.row().misses = 1;
  CHECK_THAT(demo.closing({.real_time = false}).text, Contains("Without the privilege for SCHED_FIFO"));
  CHECK_THAT(demo.closing({.real_time = true}).text, !Contains("SCHED_FIFO"));
}
