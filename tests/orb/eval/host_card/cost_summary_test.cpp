#include "orb/eval/host_card/cost_summary.h"

#include <catch2/catch.hpp>
#include <cstddef>

using namespace corelane;
using namespace std::chrono_literals;

namespace cost_summary_test {

using eval::CostSummary;
using eval::quantile;
using eval::summary_of;

namespace {

// Returns the samples 1 ns to `count` ns, the largest first.
std::vector<Duration> falling(int count) {
  std::vector<Duration> samples;
  for (int i = count; i > 0; --i) samples.push_back(Duration{i});
  return samples;
}

}  // namespace

TEST_CASE("a summary of many samples has their least, median, p99 and greatest") {
  CHECK(summary_of(falling(1000)) ==
        CostSummary{.min = 1ns, .median = 500ns, .p99 = 990ns, .max = 1000ns, .count = 1000});
}

TEST_CASE("the p99 of fewer than a hundred samples is the greatest one") {
  CHECK(summary_of(falling(99)).p99 == 99ns);
  CHECK(summary_of(falling(100)).p99 == 99ns);
  CHECK(summary_of(falling(101)).p99 == 100ns);
}

TEST_CASE("one sample is every number of its summary") {
  CHECK(summary_of({7us}) == CostSummary{.min = 7us, .median = 7us, .p99 = 7us, .max = 7us, .count = 1});
}

TEST_CASE("no samples give a summary without samples") { CHECK(summary_of({}) == CostSummary{}); }

TEST_CASE("a quantile is the nearest sample from above") {
  const std::vector<Duration> samples = {1ns, 2ns, 3ns, 4ns};
  CHECK(quantile(samples, 0) == 1ns);
  CHECK(quantile(samples, 250) == 1ns);
  CHECK(quantile(samples, 251) == 2ns);
  CHECK(quantile(samples, 1000) == 4ns);
}

}  // namespace cost_summary_test
