// Tests the exact solution of the network of cores and one lock, with published and computed oracles.
#include "orb/scale/lock_model.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <vector>

using namespace corelane::scale;

namespace lock_model_test {
namespace {

constexpr LockModel collapsing{.outside = 10, .section = .4, .hand_over = .1};
constexpr LockModel free_of_hand_over{.outside = 10, .section = .4, .hand_over = 0};

double cores_outside(int cores) { return solve(collapsing, cores).cores_outside; }

}  // namespace

TEST_CASE("the number of cores outside of the lock has the computed values") {
  CHECK(cores_outside(1) == Approx(.96).margin(.005));
  CHECK(cores_outside(8) == Approx(7.48).margin(.005));
  CHECK(cores_outside(16) == Approx(13.34).margin(.005));
  CHECK(cores_outside(24) == Approx(8.98).margin(.005));
  CHECK(cores_outside(48) == Approx(3.84).margin(.005));
}

TEST_CASE("one core needs all three times for a section") {
  const LockPoint point = solve(collapsing, 1);
  CHECK(point.throughput == Approx(1 / (10 + .4 + .05)));
  CHECK(point.speed_up == Approx(10.4 / 10.45));
  CHECK(point.waiting_share == Approx(0).margin(1e-12));
}

TEST_CASE("two cores have the throughput that is computed by hand") {
  // States 0, 1, 2 with births .2 and .1, deaths 2 and 2: probabilities in proportion to 1, .1, .005.
  const LockPoint point = solve({.outside = 10, .section = .5, .hand_over = 0}, 2);
  CHECK(point.throughput == Approx(2 * .105 / 1.105));
  CHECK(point.waiting_share == Approx(.005 / 1.105 / 2));
}

TEST_CASE("without hand-over cost the speed-up saturates at 1 + T_ncs / T_cs") {
  CHECK(solve(free_of_hand_over, 1).speed_up == Approx(1));
  CHECK(solve(free_of_hand_over, 20).speed_up < 26);
  CHECK(solve(free_of_hand_over, 200).speed_up == Approx(26));
  CHECK(solve(free_of_hand_over, 5000).speed_up == Approx(26));
}

TEST_CASE("several numbers of cores are solved in their order") {
  const std::vector<int> cores{8, 1};
  const auto points = solve(collapsing, cores);
  REQUIRE(points.size() == 2);
  CHECK(points[0].cores == 8);
  CHECK(points[1].throughput == solve(collapsing, 1).throughput);
}

TEST_CASE("throughput collapses at its highest point, and only if it falls far enough afterwards") {
  const auto collapse = collapse_point(collapsing, 48);
  REQUIRE(collapse);
  CHECK(*collapse == 18);
  CHECK_FALSE(collapse_point(collapsing, *collapse));
  CHECK_FALSE(collapse_point(free_of_hand_over, 200));
}

TEST_CASE("a model with a wrong time is refused with the name of the time") {
  using Catch::Contains;
  CHECK(fault_of(collapsing).empty());
  CHECK(fault_of(free_of_hand_over).empty());
  CHECK_THAT(fault_of({.outside = 0, .section = 1, .hand_over = 0}), Contains("T_ncs"));
  CHECK_THAT(fault_of({.outside = 1, .section = -1, .hand_over = 0}), Contains("T_cs"));
  CHECK_THAT(fault_of({.outside = 1, .section = 1, .hand_over = -1}), Contains("hand-over"));
  CHECK_THAT(fault_of({.outside = std::numeric_limits<double>::infinity(), .section = 1, .hand_over = 0}),
             Contains("T_ncs"));
  CHECK_THAT(fault_of({.outside = 1, .section = std::nan(""), .hand_over = 0}), Contains("T_cs"));
}

}  // namespace lock_model_test
