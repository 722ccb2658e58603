#include <algorithm>

#include "tests/orb/eval/formats/reading.h"

namespace toml_format_test {

using Catch::Contains;
using namespace corelane;
using namespace corelane::eval;
using namespace corelane::eval::testing;

namespace {

constexpr const char* every_field = R"(name = "a \"quoted\" name"
seed = 7

[platform]
cores = 2
budget = "50us"
capacity = 0.9

[policy]
allocation = "first-fit"
repack = false
charge_slowdowns = true

[overheads]
hop = "20us"
charged = false

[[task]]
label = "sensor"
period = "10ms"
budget = "1500us"
deadline = "8ms"
jitter = "0ns"
importance = -3
on_overrun = "demote"
uses = { "bus" = "200us", "two words" = "1us" }
offset = "1ms"
arrival = "bursty"
gap = "4ms"
burst = 2
execution = 0.9
execution_min = 0.4

[[task]]
label = "valve"
period = "20ms"
budget = "2ms"
execution_trace = ["1ms", "2ms"]

[[slowdown]]
operation = "sensor"
beside = "valve"
factor = 1.25
samples = 200
low = 1.2
)";

}  // namespace

TEST_CASE("a scenario is written as it was read, without what is a default") {
  CHECK(written(read(every_field), "toml").text == every_field);
}

TEST_CASE("drawn tasks are listed with the contracts that they were drawn with") {
  const Scenario drawn = read(
      "repetitions = 3\n[generate]\ntasks = 5\nutilization = 1.5\narrival = \"sporadic\"\ngap = 0.5\n"
      "execution_min = 0.5\noffsets = \"random\"\n");
  const Scenario listed = read(written(drawn, "toml").text);
  CHECK(listed.tasks.size() == 5);
  CHECK_FALSE(listed.generate);
  const auto before = tasks_of(drawn), after = tasks_of(listed);
  REQUIRE((before && after));
  for (std::size_t i = 0; i < before->size(); ++i) {
    const Task &one = (*before)[i], &other = (*after)[i];
    CHECK(one.label == other.label);
    CHECK(one.contract == other.contract);
    CHECK(one.offset == other.offset);
    CHECK(one.arrival.kind == other.arrival.kind);
    CHECK(one.arrival.gap == other.arrival.gap);
    CHECK(one.execution.least == other.execution.least);
  }
}

TEST_CASE("tasks of one kind are listed one by one") {
  const Scenario scenario = read("[[task]]\nperiod = \"10ms\"\nbudget = \"1ms\"\ncount = 2\n");
  CHECK(written(scenario, "toml").text ==
        "[[task]]\nlabel = \"task-1-1\"\nperiod = \"10ms\"\nbudget = \"1ms\"\n\n"
        "[[task]]\nlabel = \"task-1-2\"\nperiod = \"10ms\"\nbudget = \"1ms\"\n");
}

TEST_CASE("a text is told by its content, and a path by its ending") {
  CHECK(format_of_text("").name == "toml");
  CHECK(format_of_text("[[task]]\n").name == "toml");
  CHECK(format_of_text("\n {").name == "rt-app");
  CHECK(format_of_text("<?xml version=\"1.0\"?>").name == "simso");
  CHECK(format_of_text("Task ID,Job ID, Arrival min,Arrival max,Cost min,Cost max,deadline").name == "jobs");
  CHECK(format_of_path("a/b.xml")->name == "simso");
  CHECK(format_of_path("a/b.txt") == nullptr);
}

TEST_CASE("names with characters that control a terminal are escaped or replaced") {
  Scenario scenario = read("[[task]]\nlabel = \"a\"\nperiod = \"10ms\"\nbudget = \"1ms\"\n");
  const std::string label = "\x1b\x07\xc2\x9b\xe2\x80\xa8\xe2\x80\xae\xff\xc3\xa9";
  scenario.tasks.front().label = label;
  CHECK_THAT(written(scenario, "toml").text,
             Contains("label = \"\\u001b\\u0007\\u009b\\u2028\\u202e\\ufffd\xc3\xa9\"\n"));
  CHECK_THAT(written(scenario, "rt-app").text, Contains("\"\\u001b\\u0007\\u009b\\u2028\\u202e\\ufffd\\u00e9\""));
  const WrittenScenario xml = written(scenario, "simso");
  CHECK_THAT(xml.text, Contains("name=\"??????\xc3\xa9-1\""));
  CHECK_THAT(xml.notes, Catch::VectorContains(std::string("the exact name of 1 task is left out")));
}

TEST_CASE("a byte order mark does not hide the format of a text") {
  CHECK(format_of_text("\xef\xbb\xbf{ }").name == "rt-app");
  CHECK(format_of_text("\xef\xbb\xbf<simulation/>").name == "simso");
}

}  // namespace toml_format_test
