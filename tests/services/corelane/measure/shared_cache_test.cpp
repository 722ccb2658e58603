// Tests how a core of the same cache is found, and the file of slowdowns.
#include "services/corelane/measure/shared_cache.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <span>

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

constexpr CoreId first{0};

}  // namespace

TEST_CASE("other work gets a core of the same cache, not a sibling") {
  CHECK(core_beside(machine("l3:1 core:2 pu:1"), first) == CoreId{1});
  CHECK(core_beside(machine("l3:2 core:1 pu:1"), first) == no_core);
  CHECK(core_beside(machine("l3:1 core:1 pu:2"), first) == no_core);
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
  CHECK(add_slowdowns(path, std::span(&first, 1)) == "");
  const Slowdown second{
      .operation = "Plant/Controller.step", .beside = "load", .alone = 2ms, .together = 2ms, .samples = 1};
  CHECK(factor_text(second) == "1.00 times that alone (1 job)");
  CHECK(add_slowdowns(path, std::span(&second, 1)) == "");
  const std::string text = contents(path);
  CHECK_THAT(text, Contains("never bounds"));
  CHECK_THAT(text,
             Catch::EndsWith("\n[[slowdown]]\noperation = \"Plant/Controller.step\"\nbeside = \"./load \\\"x\\\"\""
                             "\nfactor = 1.250\nsamples = 200\nlow = 1.200\nhigh = 1.300\nalone = \"2ms\""
                             "\ntogether = \"2500us\"\naccesses = 25.500\nmisses = 3.250\n"
                             "\n[[slowdown]]\noperation = \"Plant/Controller.step\"\nbeside = \"load\""
                             "\nfactor = 1.000\nsamples = 1\nalone = \"2ms\"\ntogether = \"2ms\"\n"));
  CHECK_THAT(add_slowdowns(directory / "none/slowdowns.toml", std::span(&first, 1)), Contains("cannot be written"));
}

TEST_CASE("slowdowns that are added to a scenario are part of it") {
  const TempDirectory directory;
  const std::string path = directory / "scenario.toml";
  std::ofstream(path) << "[policy]\ncharge_slowdowns = true\n"
                         "[[task]]\nlabel = \"a\"\nperiod = \"10ms\"\nbudget = \"1ms\"\n"
                         "[[task]]\nlabel = \"b\"\nperiod = \"10ms\"\nbudget = \"1ms\"\n";
  const Slowdown slowdowns[] = {{.operation = "a", .beside = "b", .alone = 2ms, .together = 2500us, .samples = 9},
                                {.operation = "b", .beside = "a", .alone = 2ms, .together = 3ms, .samples = 9}};
  CHECK(add_slowdowns(path, slowdowns) == "");
  const auto cells = eval::parse_scenario(contents(path), path);
  REQUIRE(cells);
  REQUIRE(cells->front().scenario.slowdowns.size() == 2);
  CHECK(cells->front().scenario.slowdowns[1].factor == eval::Fraction{1'500'000});
  CHECK(eval::parse_slowdowns(contents(path), path)->size() == 2);
}

}  // namespace shared_cache_test
