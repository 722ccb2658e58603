// Tests how a core of the same cache is found, and the file of slowdowns.
#include "services/corelane/measure/shared_cache.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <span>

#include "orb/core/contracts/slowdowns.h"
#include "orb/eval/scenario_file.h"
#include "tests/services/corelane/measure/measuring.h"
#include "tests/support/system/temp_directory.h"

namespace shared_cache_test {

using namespace corelane;
using namespace corelane::tool;
using namespace corelane::testing;
using namespace std::chrono_literals;
using Catch::Contains;

namespace {

std::vector<os::CoreInfo> machine(const char* description) { return os::Topology::synthetic(description)->cores(); }

constexpr CoreId first_core{0};

// Returns why the slowdown is not added; "" if it is.
std::string fault_of(const std::string& path, const Slowdown& slowdown) {
  const auto added = add_slowdowns(path, std::span(&slowdown, 1));
  return added ? "" : added.error();
}

}  // namespace

TEST_CASE("other work gets a core of the same cache, not a sibling") {
  CHECK(core_beside(machine("l3:1 core:2 pu:1"), first_core) == CoreId{1});
  CHECK(core_beside(machine("l3:2 core:1 pu:1"), first_core) == no_core);
  CHECK(core_beside(machine("l3:1 core:1 pu:2"), first_core) == no_core);
  CHECK(core_beside(machine("l3:1 core:2 pu:1"), CoreId{9}) == no_core);
}

TEST_CASE("slowdowns are added to a file that says what they are") {
  const TempDirectory directory;
  const std::string path = directory / "slowdowns.toml";
  Slowdown first{.operation = "Plant/Controller.step",
                 .beside = "./load \"x\"",
                 .alone = 2ms,
                 .together = 2500us,
                 .samples = 200,
                 .range = FactorRange{.low = 1.2, .high = 1.3},
                 .metrics = os::CacheMetrics{.accesses = 25.5, .misses = 3.25}};
  CHECK(factor_text(first) == "1.25 times that alone (1.20 to 1.30 with 95 % confidence, 200 jobs)");
  CHECK(add_slowdowns(path, std::span(&first, 1)));
  const Slowdown second{
      .operation = "Plant/Controller.step", .beside = "load", .alone = 2ms, .together = 2ms, .samples = 1};
  CHECK(factor_text(second) == "1.00 times that alone (1 job)");
  const auto both = add_slowdowns(path, std::span(&second, 1));
  REQUIRE(both);
  CHECK(both->size() == 2);
  const std::string text = contents(path);
  CHECK_THAT(text, Contains("never bounds"));
  CHECK_THAT(text,
             Catch::EndsWith("\n[[slowdown]]\noperation = \"Plant/Controller.step\"\nbeside = \"./load \\\"x\\\"\""
                             "\nfactor = 1.250\nsamples = 200\nlow = 1.200\nhigh = 1.300\nalone = \"2ms\""
                             "\ntogether = \"2500us\"\naccesses = 25.500\nmisses = 3.250\n"
                             "\n[[slowdown]]\noperation = \"Plant/Controller.step\"\nbeside = \"load\""
                             "\nfactor = 1.000\nsamples = 1\nalone = \"2ms\"\ntogether = \"2ms\"\n"));
  CHECK_THAT(fault_of(directory / "none/slowdowns.toml", first), Contains("none/slowdowns.toml"));
}

TEST_CASE("slowdowns that are added to a scenario are part of it") {
  const TempDirectory directory;
  const std::string path = directory / "scenario.toml";
  std::ofstream(path) << "[policy]\ncharge_slowdowns = true\n"
                         "[[task]]\nlabel = \"a\"\nperiod = \"10ms\"\nbudget = \"1ms\"\n"
                         "[[task]]\nlabel = \"b\"\nperiod = \"10ms\"\nbudget = \"1ms\"\n";
  const Slowdown slowdowns[] = {{.operation = "a", .beside = "b", .alone = 2ms, .together = 2500us, .samples = 9},
                                {.operation = "b", .beside = "a", .alone = 2ms, .together = 3ms, .samples = 9}};
  CHECK(add_slowdowns(path, slowdowns));
  const auto cells = eval::parse_scenario(contents(path), path);
  REQUIRE(cells);
  REQUIRE(cells->front().scenario.slowdowns.size() == 2);
  CHECK(cells->front().scenario.slowdowns[1].factor == eval::Fraction{1'500'000});
  CHECK(core::parse_slowdowns(contents(path), path)->size() == 2);
}

TEST_CASE("factors are rounded up, and the lower end of their interval down") {
  const Slowdown slowdown{.operation = "a",
                          .beside = "b",
                          .alone = 3ms,
                          .together = 4ms,
                          .samples = 9,
                          .range = FactorRange{.low = 1.2349, .high = 1.4341}};
  CHECK_THAT(toml_of(slowdown), Contains("\nfactor = 1.334\n") && Contains("\nlow = 1.234\nhigh = 1.435\n"));
}

TEST_CASE("a file that cannot have the slowdowns stays as it is, and the fault says why") {
  const TempDirectory directory;
  const std::string path = directory / "s.toml";
  Slowdown slowdown{.operation = "a", .beside = "./load", .alone = 2ms, .together = 3ms, .samples = 9};
  std::string text, fault;
  SECTION("it is no TOML") {
    text = "[[slowdown]\n";
    fault = "s.toml:";
  }
  SECTION("a table in it is wrong") {
    text = "[[slowdown]]\noperation = \"a\"\n";
    fault = "slowdown";
  }
  SECTION("it has tables within tables without end") {
    text = "a";
    for (int i = 0; i < 200'000; ++i) text += ".a";
    text += " = 1\n";
    fault = "s.toml:1: more than 1000 dots in a line";
  }
  SECTION("it is a scenario with other labels") {
    text = "[[task]]\nlabel = \"a\"\nperiod = \"10ms\"\nbudget = \"1ms\"\n";
    fault = "give the labels of the scenario with --task and --beside-task";
  }
  SECTION("it is a scenario with a fault") {
    text = "[[task]]\nlabel = \"a\"\nperiod = \"10ms\"\nbudget = \"20ms\"\n";
    fault = "s.toml:1:";
  }
  SECTION("the factor is too large") {
    slowdown.together = 2001ms;
    fault = "at most 1000";
  }
  SECTION("the upper end of the interval is too large") {
    slowdown.range = FactorRange{.low = 1.4, .high = 1001};
    fault = "at most 1000";
  }
  SECTION("the operation took no time alone") {
    slowdown.alone = 0ms;
    fault = "at most 1000";
  }
  std::ofstream(path) << text;
  CHECK_THAT(fault_of(path, slowdown), Contains(fault));
  CHECK(contents(path) == text);
}

TEST_CASE("labels may have any bytes: what is not UTF-8 is replaced") {
  const TempDirectory directory;
  const std::string path = directory / "s.toml";
  const Slowdown slowdown{.operation = "a\x7f\x7f\n", .beside = "x\xff", .alone = 2ms, .together = 3ms, .samples = 9};
  const auto pairs = add_slowdowns(path, std::span(&slowdown, 1));
  REQUIRE(pairs);
  CHECK(pairs->front().operation == "a\x7f\x7f\n");
  CHECK(pairs->front().beside == "x\xef\xbf\xbd");
  CHECK_THAT(contents(path), Contains("operation = \"a\\u007f\\u007f\\n\"\n"));
}

TEST_CASE("an option cannot give a label that is not UTF-8") {
  CHECK(fault_of_label("temp\xc3\xa9rature") == "");
  CHECK(fault_of_label("x\xff") == "\"x\xef\xbf\xbd\" is not UTF-8; write the label in UTF-8");
}

TEST_CASE("a file of slowdowns is checked without writing it") {
  const TempDirectory directory;
  const std::string path = directory / "s.toml";
  const std::string labels[] = {"b"}, others[] = {"b", "c"};
  CHECK(fault_of_slowdowns_file(path, "a", labels) == "");
  CHECK(directory.entries() == 0);
  CHECK_THAT(fault_of_slowdowns_file(directory.path(), "a", labels), Contains("is a folder"));
  CHECK_THAT(fault_of_slowdowns_file(directory / "none/s.toml", "a", labels),
             Contains("none/s.toml cannot be written: No such file or directory; name a file in a directory that"));
  const std::string text =
      "[[task]]\nlabel = \"a\"\nperiod = \"10ms\"\nbudget = \"1ms\"\n"
      "[[task]]\nlabel = \"b\"\nperiod = \"10ms\"\nbudget = \"1ms\"\n";
  std::ofstream(path) << text;
  CHECK(fault_of_slowdowns_file(path, "a", labels) == "");
  CHECK(fault_of_slowdowns_file(path, "", labels) == "");
  CHECK_THAT(fault_of_slowdowns_file(path, "step", labels), Contains("\"step\" is the label of no task"));
  CHECK_THAT(fault_of_slowdowns_file(path, "", others),
             Contains("\"c\" is the label of no task") && Contains("give the labels of the scenario with --task"));
  CHECK(contents(path) == text);
}

TEST_CASE("slowdowns are added behind a last line without an end") {
  const TempDirectory directory;
  const std::string path = directory / "s.toml";
  std::ofstream(path) << "name = \"x\"";
  CHECK(fault_of(path, {.operation = "a", .beside = "b", .alone = 2ms, .together = 3ms, .samples = 9}) == "");
  CHECK_THAT(contents(path), Catch::StartsWith("name = \"x\"\n\n[[slowdown]]\n"));
}

}  // namespace shared_cache_test
