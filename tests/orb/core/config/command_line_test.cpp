#include "orb/core/config/command_line.h"

#include <catch2/catch.hpp>

using corelane::core::reworded;
using corelane::core::unknown_option;

namespace {

// The part of CLI::App's interface that the code under test uses.
struct FakeOption {
  std::vector<std::string> names, letters{};
  const std::vector<std::string>& get_lnames() const { return names; }
  const std::vector<std::string>& get_snames() const { return letters; }
};
struct FakeCommand {
  std::vector<FakeOption> options;
  std::vector<const FakeCommand*> given{};
  std::vector<const FakeOption*> get_options() const {
    std::vector<const FakeOption*> all;
    for (const FakeOption& option : options) all.push_back(&option);
    return all;
  }
  const std::vector<const FakeCommand*>& get_subcommands() const { return given; }
};

}  // namespace

TEST_CASE("the options of the program and of each command that was given are known") {
  const FakeCommand list{.options = {{{"recursive"}}}}, ns{.options = {{{"service"}}}, .given = {&list}};
  const FakeCommand program{.options = {{{"help", "usage"}}}, .given = {&ns}};
  const auto said_of = [&](const std::vector<std::string>& words) {
    return corelane::core::fault_of_command_line(program, words, "x is wrong");
  };
  CHECK(said_of({"--usage", "ns", "--service", "x", "list", "--recursive", "y"}) == "x is wrong");
  CHECK(said_of({"--service", "x", "ns", "list", "--recursiv"}) ==
        "there is no option --recursiv; is --recursive meant?");
}

TEST_CASE("a misspelt option is named with the one that was meant") {
  const std::vector<std::string> known{"--help", "--cores", "--share", "-q"};
  const auto said_of = [&](const std::vector<std::string>& words) { return unknown_option(words, known); };
  CHECK(said_of({"reserve", "--core", "1", "--", "true"}) == "there is no option --core; is --cores meant?");
  CHECK(said_of({"--share", "1ms/2ms", "--coers=1"}) == "there is no option --coers; is --cores meant?");
  CHECK(said_of({"--frobnicate"}) == "there is no option --frobnicate");
  CHECK(said_of({"--cores=1", "-q", "word", "--", "--core"}) == "");
  CHECK(said_of({}) == "");
  CHECK(said_of({"-qx", "-1", "-", "--cores"}) == "");
  CHECK(said_of({"x", "-x"}) == "there is no option -x");
  CHECK(said_of({"--", "-x"}) == "");
  CHECK(unknown_option(std::vector<std::string>{"--x"}, {}) == "there is no option --x");
}

TEST_CASE("the library's messages about a command line say what to do") {
  const std::pair<const char*, const char*> rows[] = {
      {"The following argument was not expected: extra", "extra is one word too many"},
      {"The following arguments were not expected: c b", "b, c are words too many"},
      {"The following arguments were not expected: 5 -x", "there is no option -x"},
      {"The following argument was not expected: ", "an empty word is one too many"},
      {"The following arguments were not expected: x --help --", "--help, x are words too many"},
      {"A subcommand is required", "which command?"},
      {"--cores: 1 required COUNT missing", "--cores needs COUNT behind it"},
      {"--length: At Most 1 required but received 2", "--length is given more than once"},
      {"--interval: Value x not in range 0.100000 to 3600.000000", "--interval: x is not from 0.1 to 3600"},
      {"--calls: Value 0 not in range 1 to 1000000", "--calls: 0 is not from 1 to 1000000"},
      {"--format: xml not in {table,json}", "--format: xml is none of table, json"},
      {"--cores excludes --share", "--cores and --share exclude each other: give one of them"},
      {"COMMAND is required", "COMMAND is required"},
      {"", ""}};
  for (const auto& [said, expected] : rows) CHECK(reworded(said) == expected);
}
