// Tests which factor each pair of tasks has.
#include "orb/eval/slowdown_table.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "orb/core/contracts/slowdowns.h"
#include "orb/eval/generate/random_source.h"

namespace slowdown_table_test {

using namespace corelane;
using namespace corelane::eval;
using namespace std::chrono_literals;

namespace {

Task task(const std::string& label, std::uint16_t intensity = 0) {
  return {.label = label, .contract = {.period = 10ms, .deadline = 10ms, .budget = 1ms, .intensity = intensity}};
}

PairSlowdown pair(const std::string& operation, const std::string& beside, std::int64_t millionths) {
  return {.operation = operation, .beside = beside, .factor = Fraction{millionths}};
}

std::int64_t factor(const SlowdownTable& table, const Task& one, const Task& other) {
  return table.factor(table.row_of(one), table.row_of(other));
}

constexpr std::int64_t none = 1'000'000;

}  // namespace

TEST_CASE("a factor is about one direction of a pair, and other pairs have none") {
  const std::vector<PairSlowdown> pairs{pair("a", "b", 1'300'000), pair("b", "a", 1'100'000)};
  const SlowdownTable table(pairs, unity);
  CHECK(factor(table, task("a"), task("b")) == 1'300'000);
  CHECK(factor(table, task("b"), task("a")) == 1'100'000);
  CHECK(factor(table, task("a"), task("a")) == none);
  CHECK(factor(table, task("a"), task("c")) == none);
  CHECK(factor(table, task("c"), task("a")) == none);
}

TEST_CASE("the larger of two factors of a pair counts, and less than 1 counts as 1") {
  const std::vector<PairSlowdown> pairs{pair("a", "b", 1'300'000), pair("a", "b", 1'200'000), pair("b", "a", 900'000)};
  const SlowdownTable table(pairs, Fraction{2'000'000});
  CHECK(factor(table, task("a", 40), task("b", 40)) == 1'300'000);
  CHECK(factor(table, task("b", 40), task("a", 40)) == none);
}

TEST_CASE("pairs of intensive tasks without a table of their own have the platform's slowdown") {
  const SlowdownTable table({}, Fraction{1'400'000});
  CHECK(factor(table, task("a", 40), task("b", intensive_from)) == 1'400'000);
  CHECK(factor(table, task("a", 40), task("b", 9)) == none);
  CHECK_FALSE(table.is_empty());
  CHECK(SlowdownTable({}, unity).is_empty());
}

TEST_CASE("a name without a number means all copies that have no table of their own") {
  CHECK(is_named("a", "a"));
  CHECK(is_named("a-12", "a"));
  CHECK_FALSE(is_named("a-", "a"));
  CHECK_FALSE(is_named("a-x", "a"));
  CHECK_FALSE(is_named("ab", "a"));
  CHECK_FALSE(is_named("a", "a-1"));
  const std::vector<PairSlowdown> pairs{pair("a", "b", 1'300'000), pair("a-2", "b", 1'100'000)};
  const SlowdownTable table(pairs, unity);
  CHECK(factor(table, task("a-1"), task("b")) == 1'300'000);
  CHECK(factor(table, task("a-2"), task("b")) == 1'100'000);
}

TEST_CASE("a table with a number replaces the general one for its own pair only") {
  const std::vector<PairSlowdown> pairs{pair("vision", "control", 1'500'000), pair("vision-2", "load", 1'100'000),
                                        pair("control", "vision", 1'400'000), pair("load", "vision-2", 1'200'000)};
  const SlowdownTable table(pairs, unity);
  for (const char* const copy : {"vision-1", "vision-2"}) {
    CAPTURE(copy);
    CHECK(factor(table, task(copy), task("control")) == 1'500'000);
    CHECK(factor(table, task("control"), task(copy)) == 1'400'000);
  }
  CHECK(factor(table, task("vision-2"), task("load")) == 1'100'000);
  CHECK(factor(table, task("load"), task("vision-2")) == 1'200'000);
  CHECK(factor(table, task("vision-1"), task("load")) == none);
}

TEST_CASE("of several tables about a pair, the one with more numbers counts, and then the one about the slowed task") {
  std::vector<PairSlowdown> pairs{pair("a", "b", 1'100'000), pair("a", "b-1", 1'200'000)};
  const auto of_first = [&] { return factor(SlowdownTable(pairs, unity), task("a-1"), task("b-1")); };
  CHECK(of_first() == 1'200'000);
  pairs.push_back(pair("a-1", "b", 1'150'000));
  CHECK(of_first() == 1'150'000);
  pairs.push_back(pair("a-1", "b-1", 1'050'000));
  CHECK(of_first() == 1'050'000);
  CHECK(factor(SlowdownTable(pairs, unity), task("a-2"), task("b-2")) == 1'100'000);
}

TEST_CASE("the worst factor of a server is the largest one that the table has beside any task") {
  const std::vector<std::string> names{"a", "b", "a-1", "a-2", "b-1"};
  std::vector<std::string> labels{"c"};  // one without a table, and each name with and without a further number
  for (const std::string& name : names) labels.push_back(name), labels.push_back(name + "-9");
  for (std::uint64_t set = 0; set < 300; ++set) {
    Random random = random_of(7, set);
    std::vector<PairSlowdown> pairs;
    for (std::uint64_t count = below(random, 8); count > 0; --count)
      pairs.push_back(pair(names[below(random, names.size())], names[below(random, names.size())],
                           900'000 + static_cast<std::int64_t>(below(random, 10)) * 100'000));
    const SlowdownTable table(pairs, unity);
    const auto worst = core::worst_of(pairs);
    for (const std::string& label : labels) {
      std::int64_t largest = none;
      for (const std::string& other : labels) largest = std::max(largest, factor(table, task(label), task(other)));
      CAPTURE(set, label);
      CHECK(worst->of(label).factor == largest);
    }
  }
}

TEST_CASE("a slowed budget is rounded up to the nanosecond") {
  CHECK(slowed(4ms, 1'500'000) == 6ms);
  CHECK(slowed(3ns, 1'333'333) == 4ns);
  CHECK(slowed(1ns, none) == 1ns);
  CHECK(slowed(1h, 1'000'000'000) == 1000h);
}

}  // namespace slowdown_table_test
