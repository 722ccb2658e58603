#include "orb/sim/duration_distribution.h"

#include <catch2/catch.hpp>
#include <vector>

namespace duration_distribution_test {

using namespace corelane;
using namespace corelane::sim;
using namespace std::chrono_literals;

namespace {

constexpr std::uint64_t part(std::uint64_t numerator, std::uint64_t denominator) {
  return UINT64_MAX / denominator * numerator;
}

}  // namespace

TEST_CASE("a constant duration has this value for each random number") {
  const DurationDistribution constant = 5us;
  CHECK(constant.is_constant());
  CHECK(constant.least() == 5us);
  CHECK(constant.most() == 5us);
  CHECK(constant.at(0) == 5us);
  CHECK(constant.at(UINT64_MAX) == 5us);
}

TEST_CASE("a duration is zero if nothing is said, and never negative") {
  CHECK(DurationDistribution{}.most() == 0ns);
  CHECK(DurationDistribution(-1ns).most() == 0ns);
  CHECK(DurationDistribution::of_quantiles({}).most() == 0ns);
  CHECK(DurationDistribution::of_quantiles({-2ns, -1ns}).most() == 0ns);
}

TEST_CASE("two quantiles make a uniform distribution") {
  const auto uniform = DurationDistribution::of_quantiles({1000ns, 2000ns});
  CHECK_FALSE(uniform.is_constant());
  CHECK(uniform.at(0) == 1000ns);
  CHECK(uniform.at(part(1, 4)) == 1249ns);  // a fraction just below a quarter
  CHECK(uniform.at(part(1, 2)) == 1499ns);
  CHECK(uniform.at(UINT64_MAX) == 1999ns);
}

TEST_CASE("quantiles are sorted, and the pieces between them are equally probable") {
  const auto distribution = DurationDistribution::of_quantiles({1us, 100us, 2us});
  CHECK(distribution.least() == 1us);
  CHECK(distribution.most() == 100us);
  CHECK(distribution.at(std::uint64_t{1} << 63) == 2us);  // the median
  CHECK(distribution.at(std::uint64_t{1} << 62) == 1500ns);
  CHECK(distribution.at(std::uint64_t{3} << 62) == 51us);
}

TEST_CASE("equal quantiles make a constant") {
  CHECK(DurationDistribution::of_quantiles({3us, 3us, 3us}).is_constant());
  CHECK(DurationDistribution::of_quantiles({3us}).at(77) == 3us);
}

TEST_CASE("the longest random time does not overflow") {
  const auto widest = DurationDistribution::of_quantiles({0ns, 1h});
  CHECK(widest.most() == longest_random_time);
  CHECK(widest.at(UINT64_MAX) == longest_random_time - 1ns);
}

}  // namespace duration_distribution_test
