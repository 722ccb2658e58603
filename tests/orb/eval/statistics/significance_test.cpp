#include "orb/eval/statistics/significance.h"

#include <catch2/catch.hpp>
#include <vector>

namespace significance_test {

using namespace corelane::eval;

namespace {

double mcnemar_of(std::uint64_t only_a, std::uint64_t only_b) {
  return mcnemar({.trials = 1000, .only_a = only_a, .only_b = only_b});
}

}  // namespace

TEST_CASE("McNemar's test is exact") {
  CHECK(mcnemar_of(0, 0) == 1);
  CHECK(mcnemar_of(3, 3) == 1);
  CHECK(mcnemar_of(0, 5) == Approx(0.0625));       // 2 / 2^5
  CHECK(mcnemar_of(1, 9) == Approx(0.021484375));  // 2 (1 + 10) / 2^10
  CHECK(mcnemar_of(10, 30) == Approx(0.0022214338));
  CHECK(mcnemar_of(400, 500) == Approx(0.00095644414));
}

TEST_CASE("McNemar's test does not depend on the order of the treatments") {
  CHECK(mcnemar_of(7, 19) == mcnemar_of(19, 7));
}

TEST_CASE("Fisher's test is exact") {
  CHECK(fisher({3, 4}, {1, 4}) == Approx(34.0 / 70));  // the tea of Fisher 1935
  CHECK(fisher({1, 9}, {11, 14}) == Approx(0.0027594562));
  CHECK(fisher({8, 10}, {1, 6}) == Approx(0.0349650350));
  CHECK(fisher({5, 10}, {10, 10}) == Approx(0.0325077399));
}

TEST_CASE("Fisher's test finds no difference where there is none") {
  CHECK(fisher({0, 10}, {0, 10}) == 1);
  CHECK(fisher({10, 10}, {10, 10}) == 1);
  CHECK(fisher({0, 0}, {0, 0}) == 1);
  CHECK(fisher({5, 10}, {5, 10}) == Approx(1));
}

TEST_CASE("Holm's adjustment multiplies the least value most, and keeps the order") {
  const std::vector<double> p{0.01, 0.04, 0.03, 0.005};
  const std::vector<double> adjusted = holm(p);
  REQUIRE(adjusted.size() == 4);
  CHECK(adjusted[3] == Approx(0.02));  // 4 * 0.005
  CHECK(adjusted[0] == Approx(0.03));  // 3 * 0.01
  CHECK(adjusted[2] == Approx(0.06));  // 2 * 0.03
  CHECK(adjusted[1] == Approx(0.06));  // 1 * 0.04, but not below the one before it
}

TEST_CASE("Holm's adjustment gives no probability above 1, and takes an empty list") {
  CHECK(holm(std::vector<double>{0.7, 0.9}) == std::vector<double>{1, 1});
  CHECK(holm({}).empty());
}

}  // namespace significance_test
