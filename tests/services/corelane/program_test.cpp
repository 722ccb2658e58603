// The program corelane: what it answers to a command line, and when its output has nowhere to go.
#include <catch2/catch.hpp>

#include "orb/os/child_process.h"

using Catch::Contains;
using corelane::os::ChildProcess;
using corelane::os::program_beside;

namespace {

struct Answer {
  std::string exit, text;
};

Answer answer_of(const std::vector<std::string>& command) {
  ChildProcess program(command, {.joins_errors = true});
  std::string text = program.read_all().value();
  return {program.wait()->text(), std::move(text)};
}

Answer answer_of_tool(std::vector<std::string> words) {
  words.insert(words.begin(), program_beside("corelane"));
  return answer_of(words);
}

}  // namespace

TEST_CASE("the help of the program names its commands") {
  const Answer answer = answer_of_tool({"--help"});
  CHECK(answer.exit == "exit status 0");
  for (const char* command : {"trace", "measure", "top"}) CHECK_THAT(answer.text, Contains(command));
}

// Error paths.

TEST_CASE("a command line that is none is answered in a line that says how to mend it") {
  struct Case {
    std::vector<std::string> words;
    const char* said;
  };
  const Case c = GENERATE(
      Case{{}, "corelane: which command? There are trace, measure, ping, top; see corelane --help\n"},
      Case{{"tpo"}, "corelane: there is no command tpo; is top meant? There are trace, measure, ping, top; see "},
      Case{{"bogus"},
           "corelane: there is no command bogus; there are trace, measure, ping, top; see corelane --help\n"},
      Case{{"--bogus"}, "corelane: "}, Case{{"top", "bogus"}, "corelane top: "},
      Case{{"top", "--interval", "never"}, "corelane top: "},
      Case{{"trace", "--forma", "json", "x"}, "corelane trace: "},
      Case{{"trace"},
           "corelane trace: name either a FILE or, with --request PID, a server; see corelane trace --help\n"});
  const Answer answer = answer_of_tool(c.words);
  CAPTURE(answer.text);
  CHECK(answer.exit == "exit status 2");
  CHECK_THAT(answer.text, Catch::StartsWith(c.said) && Contains("--help"));
}

TEST_CASE("output that goes nowhere is a failure") {
  const std::string words = GENERATE(as<std::string>{}, "--help", "top --once", "top");
  const Answer answer = answer_of({"/bin/sh", "-c", program_beside("corelane") + " " + words + " > /dev/full"});
  CHECK(answer.exit == "exit status 1");
  CHECK(answer.text == "corelane: standard output did not take everything; is its disk full?\n");
}
