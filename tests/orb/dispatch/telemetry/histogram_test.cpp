#include "orb/dispatch/telemetry/histogram.h"

#include <catch2/catch.hpp>
#include <random>
#include <vector>

using namespace corelane;
using namespace corelane::dispatch;
using namespace std::chrono_literals;

TEST_CASE("an empty histogram has no quantiles and no maximum") {
  const Histogram histogram;
  CHECK(histogram.count() == 0);
  CHECK(histogram.quantile(500'000) == 0ns);
  CHECK(histogram.max() == 0ns);
}

TEST_CASE("quantiles of small values are exact") {
  Histogram histogram;
  for (int i = 1; i <= 50; ++i) histogram.record(Duration{i});
  CHECK(histogram.count() == 50);
  CHECK(histogram.quantile(500'000) == 25ns);
  CHECK(histogram.quantile(1'000'000) == 50ns);
  CHECK(histogram.max() == 50ns);
}

TEST_CASE("a quantile is at most a thirty-second above the true value and never below it") {
  Histogram histogram;
  std::mt19937_64 random(1);
  std::vector<std::int64_t> values;
  for (int i = 0; i < 10'000; ++i) {
    values.push_back(static_cast<std::int64_t>(std::exp2(std::uniform_real_distribution<>(0, 40)(random))));
    histogram.record(Duration{values.back()});
  }
  std::sort(values.begin(), values.end());
  for (const std::size_t percent : {1U, 10U, 50U, 90U, 99U, 100U}) {
    const auto exact = static_cast<double>(values[percent * 100 - 1]);
    const auto told = static_cast<double>(histogram.quantile(static_cast<std::uint32_t>(percent * 10'000)).count());
    CHECK(told >= exact);
    CHECK(told <= exact * (1 + 1.0 / 32));
  }
  CHECK(histogram.max().count() == values.back());
}

// Edges.

TEST_CASE("every value lies in the bucket whose end is the least at or above it") {
  for (int power = 0; power < 42; ++power) {
    for (const std::int64_t offset : {-1, 0, 1}) {
      const auto value = static_cast<std::uint64_t>((std::int64_t{1} << power) + offset);
      const std::size_t bucket = Histogram::bucket_of(value);
      CHECK(Histogram::upper_end(bucket) >= value);
      if (bucket > 0) CHECK(Histogram::upper_end(bucket - 1) < value);
    }
  }
}

TEST_CASE("values out of range count at the ends") {
  Histogram histogram;
  histogram.record(-5ns);
  CHECK(histogram.quantile(1'000'000) == 0ns);
  histogram.record(24h);
  CHECK(histogram.count() == 2);
  CHECK(histogram.max() == 24h);
  CHECK(Histogram::bucket_of(~std::uint64_t{0}) == Histogram::buckets - 1);
}
