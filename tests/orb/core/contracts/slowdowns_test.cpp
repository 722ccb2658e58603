// Tests how the tables [[slowdown]] of a file are read.
#include "orb/core/contracts/slowdowns.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <string>

namespace slowdowns_test {

using namespace corelane;
using namespace corelane::core;
using namespace std::chrono_literals;

namespace {

std::string fault_of_text(const std::string& text) {
  const auto pairs = parse_slowdowns(text, "s.toml");
  return pairs ? "" : pairs.error().text;
}

// Returns a table with one more line.
std::string with_line(const std::string& line) {
  return "[[slowdown]]\noperation = \"a\"\nbeside = \"b\"\n" + line + "\n";
}

}  // namespace

TEST_CASE("a table of slowdowns is read with all that was measured") {
  const auto pairs = parse_slowdowns(
      "name = \"whatever else there is\"\n"
      "[[task]]\nlabel = 3\n\n"
      "[[slowdown]]\noperation = \"Plant/Controller.step\"\nbeside = \"./load \\\"x\\\"\"\nfactor = 1.25\n"
      "samples = 200\nlow = 1.2\nhigh = 1.3\nalone = \"2ms\"\ntogether = \"2500us\"\naccesses = 25.5\nmisses = 3.2\n"
      "stalls = 410\n"
      "[[slowdown]]\noperation = \"a\"\nbeside = \"b\"\n",
      "s.toml");
  REQUIRE(pairs);
  REQUIRE(pairs->size() == 2);
  const PairSlowdown& full = pairs->front();
  CHECK(full.operation == "Plant/Controller.step");
  CHECK(full.beside == "./load \"x\"");
  CHECK(full.factor == Fraction{1'250'000});
  CHECK(full.samples == 200);
  CHECK(full.low == Fraction{1'200'000});
  CHECK(full.high == Fraction{1'300'000});
  CHECK(full.alone == 2ms);
  CHECK(full.together == 2500us);
  CHECK(full.accesses == Fraction{25'500'000});
  CHECK(full.misses == Fraction{3'200'000});
  CHECK(full.stalls == Fraction{410'000'000});
  CHECK(full.at.line == 5);
  CHECK(pairs->back().factor == unity);
  CHECK_FALSE(pairs->back().low);
}

TEST_CASE("a file without tables of slowdowns has none") {
  const auto pairs = parse_slowdowns("[policy]\ntest = \"none\"\n", "s.toml");
  REQUIRE(pairs);
  CHECK(pairs->empty());
}

TEST_CASE("a factor is rounded up to the next millionth") {
  const auto factor = [](const std::string& value) {
    const auto pairs = parse_slowdowns(with_line("factor = " + value), "s.toml");
    return pairs ? pairs->at(0).factor.millionths : 0;
  };
  CHECK(factor("1.0000004") == 1'000'001);
  CHECK(factor("2") == 2'000'000);
  CHECK(factor("0.5") == 500'000);
  CHECK(factor("1000") == 1'000'000'000);
}

TEST_CASE("the worst factors of a file count with those below 1 as 1") {
  const auto pairs = parse_slowdowns(with_line("factor = 1.5") + with_line("factor = 0.5"), "s.toml");
  REQUIRE(pairs);
  const auto worst = worst_of(*pairs);
  CHECK(worst->of("a").factor == 1'500'000);
  CHECK(worst->of("b").factor == 1'000'000);
}

TEST_CASE("a fault of a file of slowdowns is told with its place and what is expected") {
  struct Case {
    std::string text, fault;
  };
  const Case wrong = GENERATE(
      Case{"[[slowdown]\n", "s.toml:1:"},
      Case{"[slowdown]\noperation = \"a\"\n",
           "s.toml:1:2: slowdown is a list of tables; write [[slowdown]] above the fields of each"},
      Case{"slowdown = [1]\n", "s.toml:1:1: slowdown is a list of tables; write [[slowdown]] above"},
      Case{"[[slowdown]]\noperation = \"a\"\n", "s.toml:1:1: slowdown has no beside; add beside = \"control\""},
      Case{"[[slowdown]]\nbeside = \"a\"\n", "s.toml:1:1: slowdown has no operation; add operation = \"vision\""},
      Case{with_line("facter = 2"), "s.toml:4:1: there is no slowdown.facter; the nearest is factor"},
      Case{with_line("xyzzy = 2"), "s.toml:4:1: there is no slowdown.xyzzy; there are operation, beside, factor, "},
      Case{with_line("factor = \"2\""),
           "s.toml:4:10: slowdown.factor: expected a number from 0.000001 to 1000, such as 0.5"},
      Case{with_line("factor = 0"), "s.toml:4:10: slowdown.factor: expected a number from 0.000001 to 1000"},
      Case{with_line("factor = 1000.1"), "s.toml:4:10: slowdown.factor: expected a number from 0.000001 to 1000"},
      Case{with_line("factor = nan"), "s.toml:4:10: slowdown.factor: expected a number from 0.000001 to 1000"},
      Case{with_line("factor = inf"), "s.toml:4:10: slowdown.factor: expected a number from 0.000001 to 1000"},
      Case{with_line("low = -1"), "s.toml:4:7: slowdown.low: expected a number from 0 to 1000, such as 0.5"},
      Case{with_line("misses = 1e8"), "s.toml:4:10: slowdown.misses: expected a number from 0 to 1000000"},
      Case{with_line("samples = -1"), "s.toml:4:11: slowdown.samples: expected a whole number of 0 or more"},
      Case{with_line("samples = 1.5"), "s.toml:4:11: slowdown.samples: expected a whole number of 0 or more"},
      Case{with_line("alone = 2"),
           "s.toml:4:9: slowdown.alone: expected a duration such as \"10ms\" (a whole number and ns, us, ms or s), in "
           "quotes"},
      Case{with_line("together = \"1.5 ms\""),
           "s.toml:4:12: slowdown.together: expected a duration such as \"10ms\" (a whole number and ns, us, ms or s), "
           "in quotes; a duration has no blank and no fraction: write 1500us"},
      Case{"[[slowdown]]\noperation = \"\"\nbeside = \"b\"\n",
           "s.toml:2:13: slowdown.operation: expected a text in quotes"},
      Case{"[[slowdown]]\noperation = \"a\"\nbeside = 3\n", "s.toml:3:10: slowdown.beside: expected a text in quotes"});
  CAPTURE(wrong.text);
  CHECK_THAT(fault_of_text(wrong.text), Catch::StartsWith(wrong.fault));
}

}  // namespace slowdowns_test
