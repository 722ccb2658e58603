#include "orb/eval/generate/balanced.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>

#include "tests/orb/eval/generate/moments.h"

namespace balanced_test {

using namespace corelane::eval;
using corelane::eval::testing::Moments;
using corelane::sched::Share;
using corelane::sched::whole_share;

namespace {

double cores(Share share) { return static_cast<double>(share) / static_cast<double>(whole_share); }
Share sum(const std::vector<Share>& shares) { return std::accumulate(shares.begin(), shares.end(), Share{0}); }
Share parts(Share numerator, Share denominator) { return whole_share / denominator * numerator; }

}  // namespace

TEST_CASE("geometric utilizations have the same ratio from one to the next") {
  const std::vector<Share> shares = geometric_utilizations(8, parts(14, 10), parts(1, 10));
  REQUIRE(shares.size() == 8);
  CHECK(sum(shares) == parts(14, 10));
  for (std::size_t i = 1; i < shares.size(); ++i)
    CHECK(cores(shares[i]) / cores(shares[i - 1]) == Approx(std::pow(0.1, 1.0 / 7)).epsilon(1e-12));
  CHECK(cores(shares.back()) / cores(shares.front()) == Approx(0.1).epsilon(1e-12));
}

TEST_CASE("with a balance of 1 all utilizations are alike, up to one unit") {
  for (const Share share : geometric_utilizations(7, whole_share, whole_share))
    CHECK(std::abs(share - whole_share / 7) <= 1);
  Random random = random_of(1, 0);
  for (const Share share : uniform_utilizations(random, 7, whole_share, whole_share))
    CHECK(std::abs(share - whole_share / 7) <= 1);
}

TEST_CASE("uniform utilizations have both ends, and are uniform between them") {
  Random random = random_of(2, 0);
  Moments between;
  for (int set = 0; set < 20'000; ++set) {
    const std::vector<Share> shares = uniform_utilizations(random, 4, parts(16, 10), parts(2, 10));
    CHECK(sum(shares) == parts(16, 10));
    const auto [least, most] = std::ranges::minmax(shares);
    CHECK(cores(least) / cores(most) == Approx(0.2).epsilon(1e-9));
    between.add(cores(shares[1]) / cores(most));
    between.add(cores(shares[2]) / cores(most));
  }
  CHECK(between.has_mean(0.6));
  CHECK(between.has_variance(0.64 / 12));
}

TEST_CASE("one task takes the whole sum, and two are the ends") {
  Random random = random_of(1, 0);
  CHECK(geometric_utilizations(1, parts(3, 10), parts(1, 10)) == std::vector<Share>{parts(3, 10)});
  CHECK(uniform_utilizations(random, 1, parts(3, 10), parts(1, 10)) == std::vector<Share>{parts(3, 10)});
  for (const auto& shares : {geometric_utilizations(2, parts(11, 10), parts(1, 10)),
                             uniform_utilizations(random, 2, parts(11, 10), parts(1, 10))}) {
    CHECK(cores(std::ranges::max(shares)) == Approx(1.0).epsilon(1e-12));
    CHECK(cores(std::ranges::min(shares)) == Approx(0.1).epsilon(1e-12));
  }
}

}  // namespace balanced_test
