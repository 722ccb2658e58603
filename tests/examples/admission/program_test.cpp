// The experiment of examples/admission, run as a user runs it.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "orb/os/process/child_process.h"

using Catch::Matchers::Contains;
using corelane::os::ChildProcess;
using corelane::os::program_beside;

namespace {

struct Run {
  std::string said, end;
};

Run run(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), program_beside("corelane-admission-example"));
  ChildProcess program(arguments, {.joins_errors = true});
  Run run;
  run.said = program.read_all().value();
  run.end = program.wait()->text();
  return run;
}

}  // namespace

TEST_CASE("an experiment shows where each task goes, its bound, the worst response, and who is refused") {
  const Run done = run({"1", "10ms:4ms", "20ms:8ms", "10ms:6ms"});
  CHECK(done.end == "exit status 0");
  CHECK_THAT(done.said, Contains("10ms:4ms         core 0, computed bound 5.1ms, worst of 1000 responses ") &&
                            Contains("20ms:8ms         core 0, computed bound 18.34ms, worst of 500 responses ") &&
                            Contains("10ms:6ms         refused: ") && Contains("in C++ {.period = "));
}

TEST_CASE("a refusal names the task that would be late as the command line gives it") {
  CHECK_THAT(run({"1", "10ms:4ms", "50ms:20ms", "20ms:2ms:10ms"}).said,
             Contains("closest is core 0, where 50ms:20ms responds in 51940us (5ms of it release jitter) against "
                      "deadline 50ms; this contract would fit"));
}

TEST_CASE("an experiment admits with the jitter and the platform load that a server has by default") {
  // The jitter is a tenth of the period. The platform load is 20 us in each ms, above the tasks.
  CHECK_THAT(run({"1", "10ms:1ms"}).said, Contains("computed bound 2.04ms"));
  CHECK_THAT(run({"1", "10ms:1ms:10ms:0us"}).said, Contains("computed bound 1.04ms"));
  CHECK_THAT(run({"1", "10ms:9400us:10ms:0us"}).said, Contains("refused: "));
}

TEST_CASE("an experiment admits what it proposed instead of a task") {
  const std::string said = run({"1", "10ms:4ms", "20ms:8ms", "10ms:6ms"}).said;
  const auto value = [&](const std::string& field) {
    const auto at = said.find("." + field + " = ") + field.size() + 4;
    return said.substr(at, said.find_first_of(",}", at) - at);
  };
  const std::string proposed =
      value("period") + ":" + value("budget") + ":" + value("deadline") + ":" + value("jitter");
  CHECK_THAT(run({"1", "10ms:4ms", "20ms:8ms", proposed}).said, !Contains("refused: ") && !Contains("is no task"));
}

TEST_CASE("an experiment's arguments that are wrong are named") {
  struct Case {
    std::vector<std::string> arguments;
    const char* said;
  };
  const Case c = GENERATE(
      Case{{}, "name the number of cores"}, Case{{"0", "10ms:1ms"}, "'0' is no number of cores"},
      Case{{"two", "10ms:1ms"}, "'two' is no number of cores"},
      Case{{"1", "10ms"}, "'10ms' is no task: it has no budget"},
      Case{{"1", "10ms:1"}, "'10ms:1' is no task: its budget '1' is no duration"},
      Case{{"1", "10ms:1.5ms"}, "write 1500us"},
      Case{{"1", "10ms:11ms"}, "'10ms:11ms' is no task: budget C = 11ms is outside 0 < C <= D = 10ms"},
      Case{{"1", "3601s:8s"}, "'3601s:8s' is no task: period T = 3601s is outside 0 < T <= 1 h"},
      Case{{"1", "1s:8ms:3601s"}, "deadline D = 3601s is outside 0 < D <= 1 h"}, Case{{"1", "0s:8s"}, "period T = 0"},
      Case{{"1", "10ms:1ms:9ms:9ms"}, "jitter J = 9ms is outside 0 <= J < D = 9ms"},
      Case{{"1", "10ms:1ms:9ms:1ms:1ms"}, "is no task: it has more than four fields"});
  const Run done = run(c.arguments);
  CHECK(done.end == "exit status 2");
  CHECK_THAT(done.said, Contains(c.said) && Contains("usage: "));
}
