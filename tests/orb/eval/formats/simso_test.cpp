#include "tests/orb/eval/formats/reading.h"

namespace simso_test {

using namespace corelane;
using namespace corelane::eval;
using namespace corelane::eval::testing;
using namespace std::chrono_literals;
using Catch::Contains;

namespace {

std::string simulation(const std::string& content) { return "<simulation etm=\"wcet\">" + content + "</simulation>"; }

std::string one_task(const std::string& attributes) {
  return simulation("<processors><processor name=\"CPU 1\" speed=\"1.0\"/></processors><tasks><task name=\"a\" " +
                    attributes + "/></tasks>");
}

}  // namespace

TEST_CASE("periodic tasks of SimSo have their times in milliseconds, on cores without load") {
  const Scenario scenario =
      read(one_task("task_type=\"Periodic\" period=\"7.5\" activationDate=\"0.25\" deadline=\"7\" WCET=\"0.123456\""));
  const ListedTask& task = scenario.tasks.at(0);
  CHECK(task.label == "a");
  CHECK(task.period == 7500us);
  CHECK(task.offset == 250us);
  CHECK(task.deadline == 7ms);
  CHECK(task.budget == 123'456ns);
  CHECK(task.jitter == 0ns);
  CHECK(scenario.platform.cores == 1);
  CHECK(scenario.platform.budget == 0ns);
  CHECK(scenario.platform.capacity == unity);
}

TEST_CASE("tasks that follow each other are a chain with the period of the first one") {
  const Scenario scenario = read(
      simulation("<tasks><task name=\"b\" id=\"2\" task_type=\"Sporadic\" period=\"1\" deadline=\"10\" WCET=\"2\" "
                 "followed_by=\"3\"/>"
                 "<task name=\"a\" id=\"1\" period=\"20\" deadline=\"20\" WCET=\"3\" followed_by=\"2\"/>"
                 "<task name=\"c\" id=\"3\" task_type=\"Sporadic\" period=\"1\" deadline=\"20\" WCET=\"1\"/></tasks>"));
  REQUIRE(scenario.chains.size() == 1);
  CHECK(scenario.chains[0].tasks == std::vector<std::string>{"a", "b", "c"});
  for (const ListedTask& task : scenario.tasks) CHECK(task.period == 20ms);
  const Scenario again = read(written(scenario, "simso").text);
  CHECK(again.chains.at(0).tasks == scenario.chains[0].tasks);
  CHECK(again.tasks[0].deadline == 10ms);
}

TEST_CASE("what SimSo has beyond a scenario is noted") {
  const Scenario scenario = read(
      "<simulation etm=\"acet\"><sched class=\"simso.schedulers.EDF\"/><processors><processor cs_overhead=\"10\"/>"
      "</processors><tasks><task period=\"10\" WCET=\"1\" preemption_cost=\"5\"/></tasks></simulation>");
  CHECK(scenario.tasks.at(0).label == "task-1");
  CHECK(scenario.notes == std::vector<std::string>{
                              "cs_overhead = 10 is left out",
                              "the scheduler simso.schedulers.EDF is left out; choose a policy, see docs/scenario.md",
                              "the execution time model acet is left out; jobs execute for their WCET",
                              "the preemption_cost of 1 task is left out"});
}

TEST_CASE("a file of SimSo that a scenario cannot express says what and why") {
  struct Case {
    std::string text, fault;
  };
  std::string nested;
  for (int i = 0; i < 100'000; ++i) nested += "<a b=\"/>\">";
  const Case c = GENERATE_COPY(
      Case{"<simulation>", "file:1: it is no XML: "}, Case{"<a/>", "it has no element <simulation>"},
      Case{simulation(""), "it has no <task> in <tasks>"}, Case{nested, "nested too deeply"},
      Case{simulation("<processors><processor name=\"x\" speed=\"0.5\"/></processors>"),
           "processor \"x\" has the speed 0.5; all cores of a scenario have the speed 1"},
      Case{one_task("task_type=\"Sporadic\" period=\"10\" WCET=\"1\""),
           "task \"a\": it is Sporadic, and a scenario has no list of activation dates"},
      Case{one_task("id=\"1\" followed_by=\"2\" period=\"10\" WCET=\"1\""),
           "it is followed by the task with the id 2, which the file does not have"},
      Case{one_task("id=\"1\" followed_by=\"1\" period=\"10\" WCET=\"1\""), "it follows itself, through other tasks"},
      Case{simulation("<tasks><task name=\"a\" id=\"1\" followed_by=\"3\" period=\"10\" WCET=\"1\"/><task name=\"b\" "
                      "id=\"2\" followed_by=\"3\" period=\"10\" WCET=\"1\"/></tasks>"),
           "two tasks are followed by the task with the id 3"},
      Case{one_task("WCET=\"1\""), "period = \"\" is not a number of milliseconds"},
      Case{one_task("period=\"x\" WCET=\"1\""), "period = \"x\" is not a number of milliseconds"},
      Case{one_task("period=\"10\" WCET=\"-1\""), "WCET = \"-1\" is not a number of milliseconds from 0"},
      Case{one_task("period=\"1e300\" WCET=\"1\""), "period = \"1e300\" is not"},
      Case{one_task("period=\"10\" WCET=\"11\""), "budget C = 11ms is outside 0 < C <= D = 10ms"},
      Case{simulation("<tasks><task name=\"a\" period=\"10\" WCET=\"1\"/><task name=\"a\" period=\"10\" WCET=\"1\"/>"
                      "</tasks>"),
           "two tasks are called \"a\""});
  CAPTURE(c.text.substr(0, 200));
  CHECK_THAT(fault_in(c.text), Catch::StartsWith("file:") && Contains(c.fault));
}

TEST_CASE("tasks that are written for SimSo are read again as they were") {
  const Scenario scenario = read(
      "[platform]\ncores = 3\n[[task]]\nlabel = \"a & b\"\nperiod = \"10ms\"\nbudget = \"1234567ns\"\ndeadline = "
      "\"8ms\"\njitter = \"0us\"\noffset = \"1500us\"\n[[task]]\nperiod = \"4ms\"\nbudget = \"1ms\"\n");
  const WrittenScenario result = written(scenario, "simso");
  const Scenario again = read(result.text);
  CHECK(again.platform.cores == 3);
  REQUIRE(again.tasks.size() == 2);
  CHECK(again.tasks[0].label == "a & b");
  CHECK(again.tasks[0].period == 10ms);
  CHECK(again.tasks[0].budget == 1'234'567ns);
  CHECK(again.tasks[0].deadline == 8ms);
  CHECK(again.tasks[0].offset == 1500us);
  CHECK_THAT(result.notes.back(), Contains("the jitter of 1 task is left out"));
  CHECK_THAT(result.text, Contains("duration=\"100000000\""));
}

}  // namespace simso_test
