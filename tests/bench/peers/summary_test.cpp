#include "bench/peers/driver/summary.h"

#include <catch2/catch.hpp>
#include <numeric>

namespace {

std::vector<std::uint64_t> numbers_up_to(std::uint64_t count) {
  std::vector<std::uint64_t> samples(count);
  std::iota(samples.rbegin(), samples.rend(), std::uint64_t{1});  // in descending order
  return samples;
}

}  // namespace

TEST_CASE("a percentile is the smallest sample that its share does not exceed") {
  auto samples = numbers_up_to(10'000);
  const auto all = peers::percentiles_of(samples);
  CHECK(all.count == 10'000);
  CHECK(all.min == 1);
  CHECK(all.p50 == 5'000);
  CHECK(all.p99 == 9'900);
  CHECK(all.p999 == 9'990);
  CHECK(all.p9999 == 9'999);
  CHECK(all.max == 10'000);
}

TEST_CASE("percentiles of few samples are samples") {
  auto one = numbers_up_to(1);
  CHECK(peers::percentiles_of(one).p50 == 1);
  CHECK(peers::percentiles_of(one).p9999 == 1);
  auto two = numbers_up_to(2);
  CHECK(peers::percentiles_of(two).p50 == 1);
  CHECK(peers::percentiles_of(two).p99 == 2);
}

TEST_CASE("a record is one line of JSON whatever the texts hold") {
  const auto text = peers::Record{}.add("n", std::int64_t{-3}).add("r", 0.5).add("t", "a \"b\"\\\n").text();
  CHECK(text == R"({"n": -3, "r": 0.500, "t": "a \"b\"\\ "})");
}
