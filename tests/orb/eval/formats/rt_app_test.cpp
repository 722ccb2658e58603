#include "tests/orb/eval/formats/reading.h"

namespace rt_app_test {

using namespace corelane;
using namespace corelane::eval;
using namespace corelane::eval::testing;
using namespace std::chrono_literals;
using Catch::Contains;

namespace {

std::string one_task(const std::string& events) { return "{\"tasks\": {\"a\": {" + events + "}}}"; }

constexpr const char* timer = "\"timer\": {\"ref\": \"unique\", \"period\": 10000}";

ListedTask task_with(const std::string& events) { return read(one_task(events)).tasks.at(0); }

}  // namespace

TEST_CASE("a loop of rt-app with a timer is a periodic task") {
  const ListedTask task = task_with("\"delay\": 500, \"instance\": 3, \"run\": 2000, " + std::string(timer));
  CHECK(task.label == "a");
  CHECK(task.period == 10ms);
  CHECK(task.budget == 2ms);
  CHECK(task.offset == 500us);
  CHECK(task.count == 3);
  CHECK_FALSE(task.deadline);
  CHECK(task.execution_trace.empty());
}

TEST_CASE("what runs between lock and unlock is a section of the resource") {
  const ListedTask task = task_with(
      "\"run\": 100, \"lock\": \"bus\", \"run1\": 200, \"lock1\": \"disk\", \"run2\": 30, \"unlock1\": \"disk\", "
      "\"unlock\": \"bus\", \"lock2\": \"disk\", \"run3\": 70, \"unlock2\": \"disk\", " +
      std::string(timer));
  CHECK(task.budget == 400us);
  CHECK(task.uses == std::vector<Section>{{"disk", 70us}, {"bus", 230us}});
}

TEST_CASE("a sleep beside a timer is a suspension, and without a timer it ends the period") {
  CHECK(task_with("\"run\": 2000, \"sleep\": 1000, " + std::string(timer)).suspension == 1ms);
  const Scenario scenario = read(one_task("\"run\": 2000, \"sleep\": 18000"));
  CHECK(scenario.tasks.at(0).period == 20ms);
  CHECK(scenario.tasks.at(0).suspension == 0ms);
  CHECK(scenario.notes == std::vector<std::string>{"task \"a\" has no timer; its period is the sum of run and sleep"});
}

TEST_CASE("a reservation of SCHED_DEADLINE is the contract, and the run is what executes") {
  const ListedTask task = task_with(
      "\"policy\": \"SCHED_DEADLINE\", \"dl-runtime\": 3000, \"dl-period\": 10000, \"dl-deadline\": 8000, \"run\": "
      "2500");
  CHECK(task.budget == 3ms);
  CHECK(task.deadline == 8ms);
  CHECK(task.period == 10ms);
  CHECK(task.execution_trace == std::vector<Duration>{2500us});
}

TEST_CASE("one phase is the loop, and properties that a server decides are noted") {
  const Scenario scenario =
      read(one_task("\"cpus\": [0], \"priority\": 5, \"phases\": {\"only\": {\"loop\": -1, "
                    "\"run\": 1000, " +
                    std::string(timer) + "}}"));
  CHECK(scenario.tasks.at(0).budget == 1ms);
  CHECK(scenario.notes == std::vector<std::string>{"the \"cpus\" of 1 task is left out",
                                                   "the \"loop\" of 1 task is left out",
                                                   "the \"priority\" of 1 task is left out"});
}

TEST_CASE("comments and a comma behind the last member are allowed, as in rt-app") {
  const Scenario scenario =
      read("{ /* a comment, } */\n\"tasks\": {\"a,}\": {\"run\": 1000, // one, }\n \"cpus\": [0, 1,], " +
           std::string(timer) + ", /* , */ }, },}");
  CHECK(scenario.tasks.at(0).label == "a,}");
  CHECK(scenario.tasks.at(0).budget == 1ms);
  CHECK_THAT(fault_in("{ /* a comment without an end"), Contains("it is no JSON"));
  CHECK_THAT(fault_in("{ \"a text without an end\\"), Contains("it is no JSON"));
}

TEST_CASE("a file of rt-app that a scenario cannot express says what and why") {
  struct Case {
    std::string text, fault;
  };
  const std::string run = "\"run\": 1000, ";
  const Case c = GENERATE_COPY(
      Case{"{", "file: it is no JSON: "}, Case{"{}", "it has no \"tasks\""},
      Case{"{\"tasks\": {}}", "it has no \"tasks\""},
      Case{"{\"tasks\": {\"a\": 3}}", "file: task \"a\": it is not an object"},
      Case{one_task("\"run\": 1, \"run\": 2"), "an object has two members \"run\"; add numbers to their names"},
      Case{one_task("\"run\": 1000"), "task \"a\": nothing says its period; add a \"timer\""},
      Case{one_task(timer), "task \"a\": it has no \"run\""},
      Case{one_task("\"run\": 11000, " + std::string(timer)), "budget C = 11ms is outside 0 < C <= D = 10ms"},
      Case{one_task("\"run\": 1.5"), "\"run\" is not a whole number from 0 to 3600000000"},
      Case{one_task("\"run\": -1"), "\"run\" is not a whole number from 0"},
      Case{one_task(run + "\"barrier\": \"b\""), "a scenario has no event \"barrier\"; it has run, runtime, sleep"},
      Case{one_task(run + "\"running\": 3"), "\"running\" is no event or property of a task"},
      Case{one_task(run + "\"timer\": {}"), "the timer has no \"period\""},
      Case{one_task(run + "\"phases\": {\"p\": {}, \"q\": {}}"), "this task has 2; write a task for each phase"},
      Case{one_task(run + "\"phases\": {\"p\": {\"phases\": {}}}"), "a phase has \"phases\" itself"},
      Case{one_task("\"lock\": \"x\", " + run + timer), "it does not unlock \"x\""},
      Case{one_task("\"lock\": \"x\", \"lock1\": \"x\""), "it locks \"x\" twice"},
      Case{one_task("\"unlock\": \"x\""), "it unlocks \"x\", which it has not locked"},
      Case{one_task("\"lock\": 3"), "lock and unlock need the name of a resource"},
      Case{one_task("\"instance\": 0"), "\"instance\" is not a whole number from 1 to 100000"});
  CAPTURE(c.text);
  CHECK_THAT(fault_in(c.text), Catch::StartsWith("file: ") && Contains(c.fault));
}

TEST_CASE("tasks that are written for rt-app are read again as they were") {
  const Scenario scenario = read(
      "[[task]]\nlabel = \"a\"\nperiod = \"10ms\"\nbudget = \"2ms\"\nuses = { bus = \"300us\" }\noffset = \"1ms\"\n"
      "[[task]]\nlabel = \"b\"\nperiod = \"5ms\"\nbudget = \"1ms\"\nsuspension = \"500us\"\njitter = \"0us\"\n");
  const Scenario again = read(written(scenario, "rt-app").text);
  REQUIRE(again.tasks.size() == 2);
  CHECK(again.tasks[0].period == 10ms);
  CHECK(again.tasks[0].budget == 2ms);
  CHECK(again.tasks[0].uses == scenario.tasks[0].uses);
  CHECK(again.tasks[0].offset == 1ms);
  CHECK(again.tasks[1].suspension == 500us);
}

TEST_CASE("tasks of rt-app get real-time priorities in the server's order") {
  const std::string text = written(read("[[task]]\nlabel = \"slow\"\nperiod = \"20ms\"\nbudget = \"1ms\"\n"
                                        "[[task]]\nlabel = \"quick\"\nperiod = \"10ms\"\nbudget = \"1ms\"\n"),
                                   "rt-app")
                               .text;
  CHECK_THAT(text.substr(0, text.find("quick")), Contains("\"priority\": 89"));
  CHECK_THAT(text.substr(text.find("quick")), Contains("\"priority\": 90"));
}

TEST_CASE("what rt-app cannot express is noted, and times are rounded to microseconds") {
  const WrittenScenario result =
      written(read("[platform]\ncapacity = 1\n[[task]]\nperiod = \"10ms\"\nbudget = \"1500ns\"\ndeadline = \"8ms\"\n"
                   "execution_min = 0.5\narrival = \"sporadic\"\n[[task]]\nperiod = \"10ms\"\nbudget = \"1ms\"\n"),
              "rt-app");
  CHECK(result.notes ==
        std::vector<std::string>{"the load and the capacity of the platform are left out",
                                 "the arrival of 1 task is left out", "the deadline of 1 task is left out",
                                 "the execution_min of 1 task is left out", "the jitter of 2 tasks is left out",
                                 "the part of a microsecond of 1 task is left out"});
  CHECK_THAT(result.text, Contains("\"run\": 2,"));
}

}  // namespace rt_app_test
