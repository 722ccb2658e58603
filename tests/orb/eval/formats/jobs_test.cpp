#include "tests/orb/eval/formats/reading.h"

namespace jobs_test {

using namespace corelane;
using namespace corelane::eval;
using namespace corelane::eval::testing;
using namespace std::chrono_literals;
using Catch::Contains;

namespace {

const std::string header = "Task ID, Job ID, Arrival min, Arrival max, Cost min, Cost max, Deadline, Priority\n";

}  // namespace

TEST_CASE("the jobs of a hyperperiod are periodic tasks again") {
  const Scenario scenario = read(header +
                                 "1, 1, 5, 7, 1, 2, 13, 1\n1, 2, 15, 17, 1, 2, 23, 1\n1, 3, 25, 27, 1, 2, 33, 1\n"
                                 "2, 1, 0, 0, 7, 7, 30, 2\n");
  REQUIRE(scenario.tasks.size() == 2);
  const ListedTask& task = scenario.tasks[0];
  CHECK(task.label == "task-1");
  CHECK(task.period == 10us);
  CHECK(task.budget == 2us);
  CHECK(task.deadline == 8us);
  CHECK(task.jitter == 2us);
  CHECK(task.offset == 5us);
  CHECK(task.execution_min == Fraction{500'000});
  CHECK(scenario.tasks[1].period == 30us);  // the time that the other task's jobs cover
  CHECK_FALSE(scenario.tasks[1].execution_min);
  CHECK(scenario.platform.capacity == unity);
}

TEST_CASE("exact costs that differ are a trace, and the unit of time is chosen") {
  const Scenario scenario = read(header + "1, 1, 0, 0, 3, 3, 9, 1\r\n1, 2, 10, 10, 5, 5, 19, 1\r\n", {.tick = 1ms});
  CHECK(scenario.tasks.at(0).budget == 5ms);
  CHECK(scenario.tasks.at(0).execution_trace == std::vector<Duration>{3ms, 5ms});
}

TEST_CASE("jobs with different ranges of cost get the widest range, with a note") {
  const Scenario scenario =
      read("   Task ID,     Job ID,   Arrival min,  Arrival max,  Cost min,  Cost max,  Deadline,  Priority\n" +
           std::string("1, 1,  0,  0, 7,  8, 30, 30\n1, 2, 30, 30, 4,  7, 60, 60\n"));
  CHECK(scenario.tasks.at(0).budget == 8us);
  CHECK(scenario.tasks.at(0).execution_min == Fraction{500'000});
  CHECK(scenario.notes.at(0) == "task-1 has jobs with different ranges of cost; each gets the widest range");
}

TEST_CASE("jobs that a scenario cannot express have their line and the reason") {
  struct Case {
    std::string lines, fault;
  };
  const Case c = GENERATE(
      Case{"", "file: it has no job"}, Case{"1, 1, 0\n", "file:2: it has 3 values; a job has at least 7"},
      Case{"1, 1, 0, 0, x, 2, 9, 1\n", "file:2: Cost min = x is not a whole number"},
      Case{"1, 1, 0, 0, 1.5, 2, 9, 1\n", "Cost min = 1.5 is not a whole number"},
      Case{"1, 1, 5, 0, 1, 2, 9, 1\n", "file:2: a maximum is less than its minimum"},
      Case{"1, 1, 0, 0, 1, 2, 9, 1\n", "file:2: task 1: it has one job, so nothing says its period"},
      Case{"1, 1, 0, 0, 1, 2, 9, 1\n1, 2, 0, 0, 1, 2, 9, 1\n", "two of its jobs arrive at once"},
      Case{"1, 1, 0, 0, 1, 2, 9, 1\n1, 2, 10, 10, 1, 2, 19, 1\n1, 3, 25, 25, 1, 2, 34, 1\n",
           "file:4: task 1: its jobs are not a fixed period apart"},
      Case{"1, 1, 0, 0, 1, 2, 9, 1\n1, 2, 10, 11, 1, 2, 19, 1\n", "file:3: task 1: this job has another jitter"},
      Case{"1, 1, 0, 0, 0, 0, 9, 1\n1, 2, 10, 10, 0, 0, 19, 1\n", "budget C = 0ns is outside"},
      Case{"1, 1, 0, 0, 1, 1, 0, 1\n1, 2, 9223372036854775807, 9223372036854775807, 1, 1, 9223372036854775807, 1\n",
           "is outside"});
  CAPTURE(c.lines);
  CHECK_THAT(fault_in(header + c.lines), Contains(c.fault));
}

TEST_CASE("tasks that are written as jobs are read again as they were") {
  const Scenario scenario = read(
      "[[task]]\nlabel = \"a\"\nperiod = \"10ms\"\nbudget = \"2ms\"\ndeadline = \"8ms\"\noffset = \"1ms\"\n"
      "execution_min = 0.5\n[[task]]\nlabel = \"b\"\nperiod = \"15ms\"\nbudget = \"3ms\"\njitter = \"0us\"\n");
  const WrittenScenario result = written(scenario, "jobs");
  CHECK_THAT(result.text,
             Contains("\n1, 1, 1000, 1800, 1000, 2000, 9000, 1\n1, 2, 11000, 11800, 1000, 2000, 19000, 1\n") &&
                 Contains("\n2, 4, 0, 0, 3000, 3000, 15000, 2\n"));
  const Scenario again = read(result.text);
  REQUIRE(again.tasks.size() == 2);
  CHECK(again.tasks[0].period == 10ms);
  CHECK(again.tasks[0].budget == 2ms);
  CHECK(again.tasks[0].deadline == 8ms);
  CHECK(again.tasks[0].jitter == 800us);
  CHECK(again.tasks[0].offset == 1ms);
  CHECK(again.tasks[0].execution_min == Fraction{500'000});
  CHECK(again.tasks[1].period == 15ms);
}

TEST_CASE("tasks whose jobs cannot be written say why") {
  const auto fault_of_writing = [](const std::string& text) {
    const auto listed = as_listed(read(text));
    REQUIRE(listed);
    const auto result = find_named(scenario_formats(), "jobs")->write(*listed, {});
    return result ? "" : result.error().text;
  };
  CHECK_THAT(fault_of_writing("[[task]]\nperiod = \"10ms\"\nbudget = \"1500ns\"\n"),
             Contains("1500ns is not a multiple of the unit 1us; say --tick 1ns"));
  CHECK_THAT(fault_of_writing("[[task]]\nperiod = \"999983us\"\nbudget = \"1us\"\n"
                              "[[task]]\nperiod = \"999979us\"\nbudget = \"1us\"\n[[task]]\nperiod = \"7ms\"\nbudget = "
                              "\"1us\"\n"),
             Contains("the hyperperiod of these tasks has more than 1000000 jobs"));
}

}  // namespace jobs_test
