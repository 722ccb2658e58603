// Tests which factor is the worst one of a task.
#include "orb/dispatch/worst_slowdowns.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace worst_slowdowns_test {

using namespace corelane;
using namespace corelane::dispatch;
using namespace std::chrono_literals;

namespace {

using Worst = std::pair<std::int64_t, std::string>;

Worst worst(const WorstSlowdowns& slowdowns, const std::string& label) {
  const WorstSlowdowns::Worst& found = slowdowns.of(label);
  return {found.factor, found.beside};
}

constexpr std::int64_t none = 1'000'000;

}  // namespace

TEST_CASE("the worst slowdown of a task is the largest factor of its tables, whatever runs beside it") {
  const WorstSlowdowns slowdowns({{"vision", "control", 1'500'000},
                                  {"vision", "./load", 1'700'000},
                                  {"control", "vision", 1'250'000},
                                  {"control", "control", 1'100'000}});
  CHECK(worst(slowdowns, "vision") == Worst{1'700'000, "./load"});
  CHECK(worst(slowdowns, "control") == Worst{1'250'000, "vision"});
  CHECK(worst(slowdowns, "./load") == Worst{none, ""});
  CHECK(worst(slowdowns, "") == Worst{none, ""});
  CHECK(worst(WorstSlowdowns({}), "vision") == Worst{none, ""});
}

TEST_CASE("the larger of two factors of a pair counts, and a factor below 1 counts as 1") {
  const WorstSlowdowns slowdowns({{"a", "b", 1'200'000}, {"a", "b", 1'300'000}, {"b", "a", 900'000}});
  CHECK(worst(slowdowns, "a") == Worst{1'300'000, "b"});
  CHECK(worst(slowdowns, "b") == Worst{none, "a"});
}

TEST_CASE("a table with the number of a task replaces one without it for the same pair") {
  const WorstSlowdowns slowdowns({{"a", "b", 1'500'000}, {"a-1", "b", 1'200'000}, {"a-1", "c", 1'100'000}});
  CHECK(worst(slowdowns, "a") == Worst{1'500'000, "b"});
  CHECK(worst(slowdowns, "a-2") == Worst{1'500'000, "b"});
  CHECK(worst(slowdowns, "a-1") == Worst{1'200'000, "b"});
  CHECK(worst(slowdowns, "a-x") == Worst{none, ""});
  CHECK(worst(slowdowns, "a-1-7") == Worst{1'200'000, "b"});
}

TEST_CASE("a table about one copy of the other task leaves the factor of the other copies") {
  const WorstSlowdowns lower({{"a", "b", 1'500'000}, {"a", "b-1", 1'100'000}});
  CHECK(worst(lower, "a").first == 1'500'000);
  const WorstSlowdowns higher({{"a", "b", 1'500'000}, {"a", "b-1", 1'600'000}});
  CHECK(worst(higher, "a") == Worst{1'600'000, "b-1"});
  // Beside b and b-1, the table about a-1 comes first: 1.1. It says nothing of c, nor of a copy of b-1, such as b-1-2.
  const WorstSlowdowns mixed({{"a", "b-1", 1'300'000}, {"a", "c", 1'400'000}, {"a-1", "b", 1'100'000}});
  CHECK(worst(mixed, "a-1") == Worst{1'400'000, "c"});
  const WorstSlowdowns copies({{"a", "b-1", 1'600'000}, {"a-1", "b", 1'100'000}});
  CHECK(worst(copies, "a-1") == Worst{1'600'000, "b-1"});
}

TEST_CASE("a label has a number only behind a dash at its end") {
  CHECK(without_number("a-12") == "a");
  CHECK(without_number("a-1-2") == "a-1");
  for (const char* const label : {"a", "a-", "a-x", "a-1x", "a1", "12", "", "-"}) {
    CAPTURE(label);
    CHECK(without_number(label).empty());
  }
}

TEST_CASE("a slowdown is rounded up, and taken out again exactly") {
  CHECK(slowed(8ms, 1'500'000) == 12ms);
  CHECK(slowed(3ns, 1'333'333) == 4ns);
  CHECK(slowed(1ns, none) == 1ns);
  CHECK(slowed(0ns, 1'500'000) == 0ns);
  CHECK(slowed(1h, 4'000'000'000'000) > 1h);  // more than an int64 has room for
  for (const std::int64_t factor : {none, none + 1, std::int64_t{1'333'333}, std::int64_t{2'500'000}})
    for (Duration duration = 1ns; duration < 100ns; ++duration) {
      CAPTURE(factor, duration.count());
      CHECK(without_slowdown(slowed(duration, factor), factor) == duration);
      const Duration most = without_slowdown(duration, factor);
      CHECK(slowed(most, factor) <= duration);
      CHECK(slowed(most + 1ns, factor) > duration);
    }
}

}  // namespace worst_slowdowns_test
