// The demo as a program: how it answers its arguments. Another test runs it.
#include <catch2/catch.hpp>

#include "orb/os/process/child_process.h"

using corelane::os::ChildProcess;
using corelane::os::program_beside;

namespace {

struct Answer {
  std::string exit, text;
};

Answer demo(const std::vector<std::string>& arguments) {
  std::vector<std::string> command{program_beside("corelane-pendulum")};
  command.insert(command.end(), arguments.begin(), arguments.end());
  ChildProcess program(command, {.joins_errors = true});
  std::string text = program.read_all().value();
  return {program.wait()->text(), std::move(text)};
}

}  // namespace

TEST_CASE("the demo's help names the program and its options") {
  const Answer answer = demo({"--help"});
  CHECK(answer.exit == "exit status 0");
  CHECK_THAT(answer.text, Catch::Contains("corelane-pendulum") && Catch::Contains("--no-admission") &&
                              !Catch::Contains("SUBCOMMAND"));
}

TEST_CASE("an argument that the demo does not take ends it with its usage") {
  const auto arguments = GENERATE(values<std::vector<std::string>>({{"--frobnicate"},
                                                                    {"--pendulums", "0"},
                                                                    {"--pendulums", "many"},
                                                                    {"--length", "soon"},
                                                                    {"--length", "0s"},
                                                                    {"--reserve", "foo"},
                                                                    {"swing"},
                                                                    {"-ORBPoolCors", "0"}}));
  const Answer answer = demo(arguments);
  CHECK(answer.exit == "exit status 2");
  CHECK_THAT(answer.text, Catch::StartsWith("corelane-pendulum: ") && Catch::Contains("\nusage: corelane-pendulum ["));
}

TEST_CASE("a misspelt option is named with the one that was meant") {
  CHECK_THAT(demo({"--pendulum", "3"}).text,
             Catch::StartsWith("corelane-pendulum: there is no option --pendulum; is --pendulums meant?\n"));
}

TEST_CASE("a word that is no way to reserve is told those that are") {
  CHECK_THAT(demo({"--reserve", "foo"}).text, Catch::Contains("--reserve: 'foo' is none of own, host, off\n"));
}

TEST_CASE("cores that there are not are named, and no line is empty") {
  const Answer answer = demo({"-ORBPoolCores", "4095"});
  CHECK(answer.exit == "exit status 1");
  CHECK_THAT(answer.text, Catch::Contains("core 4095 is none that this process may use") &&
                              !Catch::Contains("corelane-pendulum: \n"));
}

TEST_CASE("an option that is given twice is named") {
  CHECK_THAT(demo({"--length", "3s", "--length", "1s"}).text,
             Catch::StartsWith("corelane-pendulum: --length is given more than once\n"));
}

TEST_CASE("a place for temporary files that serves for none is named with the variable that gives another") {
  const std::string place = GENERATE(as<std::string>{}, "/nonexisting", "/proc");
  ChildProcess program({"env", "TMPDIR=" + place, program_beside("corelane-pendulum"), "--reserve", "off"},
                       {.joins_errors = true});
  CHECK_THAT(program.read_all().value(),
             Catch::Contains("corelane-pendulum: the demo keeps its names in a new directory "
                             "below TMPDIR=" +
                             place) &&
                 Catch::Contains("; let TMPDIR name one that this user may write to\n"));
  CHECK(program.wait()->text() == "exit status 1");
}
