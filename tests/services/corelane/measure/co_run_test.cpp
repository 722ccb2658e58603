// Tests the arithmetic of slowdowns and metrics with samples whose results are known.
#include "services/corelane/measure/co_run.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <string>
#include <vector>

namespace co_run_test {

using namespace corelane;
using namespace corelane::tool;
using namespace std::chrono_literals;

namespace {

std::vector<Duration> milliseconds(int first, int last) {
  std::vector<Duration> samples;
  for (int i = first; i <= last; ++i) samples.push_back(i * 1ms);
  return samples;
}

eval::PairSlowdown pair(const std::string& operation, std::int64_t factor, std::int64_t accesses, std::int64_t stalls) {
  constexpr std::int64_t million = 1'000'000;
  return {.operation = operation,
          .beside = "load",
          .factor = eval::Fraction{factor},
          .accesses = eval::Fraction{accesses * million},
          .stalls = eval::Fraction{stalls * million}};
}

}  // namespace

TEST_CASE("the ranks around a median are those of the binomial distribution") {
  CHECK(median_rank(0) == 0);
  CHECK(median_rank(6) == 0);     // 1 / 64 is more than 1.25 %
  CHECK(median_rank(7) == 1);     // 1 / 128
  CHECK(median_rank(10) == 2);    // 1 / 1024 + 10 / 1024
  CHECK(median_rank(100) == 39);  // 38 or fewer of 100: 1.05 %; 39 or fewer: 1.76 %
}

TEST_CASE("the interval of a slowdown has the ends of both medians") {
  // The medians are within 2 to 9 ms and within 12 to 19 ms.
  const auto range = factor_range(milliseconds(1, 10), milliseconds(11, 20));
  REQUIRE(range);
  CHECK(range->low == Approx(12.0 / 9));
  CHECK(range->high == Approx(19.0 / 2));
  const auto equal = factor_range(std::vector<Duration>(7, 4ms), std::vector<Duration>(9, 5ms));
  REQUIRE(equal);
  CHECK(equal->low == Approx(1.25));
  CHECK(equal->high == Approx(1.25));
  CHECK_FALSE(factor_range(milliseconds(1, 6), milliseconds(1, 10)));
  CHECK_FALSE(factor_range(milliseconds(1, 10), milliseconds(1, 6)));
}

TEST_CASE("metrics are compared by correlation with the slowdown and by variation") {
  // Accesses are 10 times the part beyond 1, on a line. Stalls vary for one operation: 100 and 300.
  const std::vector<eval::PairSlowdown> pairs{pair("a", 1'100'000, 10, 100), pair("a", 1'100'000, 10, 300),
                                              pair("b", 1'300'000, 30, 200), pair("c", 1'500'000, 50, 200)};
  const auto rows = metric_rows(pairs);
  REQUIRE(rows.size() == 3);
  CHECK(rows[0].name == "accesses");
  CHECK(rows[0].pairs == 4);
  CHECK(rows[0].coefficient.value() == Approx(1));
  CHECK(rows[0].variation.value() == Approx(0).margin(1e-12));
  CHECK(rows[1].name == "misses");
  CHECK(rows[1].pairs == 0);
  CHECK_FALSE(rows[1].coefficient);
  // The stalls are symmetric about the factors, so they do not go together. Their deviation is 100 x sqrt(2), and their
  // mean 200.
  CHECK(rows[2].coefficient.value() == Approx(0).margin(1e-12));
  CHECK(rows[2].variation.value() == Approx(0.70710678));
}

TEST_CASE("a coefficient of correlation is that of a worked example") {
  // Distances from the means: -1, 0, 1 and -0.1, 0.1, 0. The products add up to 0.1; 0.1 / sqrt(2 x 0.02) = 0.5.
  const std::vector<eval::PairSlowdown> pairs{pair("a", 1'000'000, 1, 0), pair("b", 1'200'000, 2, 0),
                                              pair("c", 1'100'000, 3, 0)};
  const auto rows = metric_rows(pairs);
  CHECK(rows[0].coefficient.value() == Approx(0.5));
  CHECK_FALSE(rows[0].variation);
  CHECK_FALSE(rows[2].coefficient);  // the stalls do not vary
}

TEST_CASE("the table has the quotient of coefficient and variation, or says that nothing was counted") {
  const std::vector<MetricRow> rows{{.name = "accesses", .pairs = 4, .coefficient = 0.828, .variation = 0.01},
                                    {.name = "misses"}};
  CHECK(metrics_text(rows) ==
        "metric      pairs  coefficient  variation  coefficient/variation\n"
        "accesses        4        0.828      0.010                   82.8\n"
        "misses          0            -          -                      -\n");
  CHECK(metrics_text({{.name = "accesses"}}) == "No table of metrics: the file has no counts of the processor.\n");
}

}  // namespace co_run_test
