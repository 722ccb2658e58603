#include "orb/eval/statistics/intervals.h"

#include <catch2/catch.hpp>

namespace intervals_test {

using namespace corelane::eval;

TEST_CASE("the interval of a fraction is Wilson's") {
  CHECK(wilson(0, 10).low == 0);
  CHECK(wilson(0, 10).high == Approx(0.277533).epsilon(1e-5));
  CHECK(wilson(3, 10).low == Approx(0.107791).epsilon(1e-5));
  CHECK(wilson(3, 10).high == Approx(0.603222).epsilon(1e-5));
  CHECK(wilson(10, 10).low == Approx(0.722467).epsilon(1e-5));
  CHECK(wilson(10, 10).high == 1);
  // Newcombe 1998, "Two-sided confidence intervals for the single proportion", table I: 0.2553 to 0.3662.
  CHECK(wilson(81, 263).low == Approx(0.255289).epsilon(1e-5));
  CHECK(wilson(81, 263).high == Approx(0.366210).epsilon(1e-5));
}

TEST_CASE("without trials nothing is known") {
  CHECK(wilson(0, 0).low == 0);
  CHECK(wilson(0, 0).high == 1);
  CHECK(paired_difference({}).low == -1);
  CHECK(paired_difference({}).high == 1);
}

TEST_CASE("the interval of a paired difference has half a trial more in each outcome") {
  const Interval none = paired_difference({.trials = 100});
  CHECK(none.low == Approx(-0.0192153).epsilon(1e-5));
  CHECK(none.high == Approx(0.0192153).epsilon(1e-5));
  const Interval some = paired_difference({.trials = 100, .only_a = 30, .only_b = 10});
  CHECK(some.low == Approx(0.0790723).epsilon(1e-5));
  CHECK(some.high == Approx(0.3130846).epsilon(1e-5));
}

TEST_CASE("a paired difference changes its sign with the order of the treatments") {
  const Interval ab = paired_difference({.trials = 50, .only_a = 9, .only_b = 4});
  const Interval ba = paired_difference({.trials = 50, .only_a = 4, .only_b = 9});
  CHECK(ab.low == Approx(-ba.high));
  CHECK(ab.high == Approx(-ba.low));
}

}  // namespace intervals_test
