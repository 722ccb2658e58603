// Tests what is derived from measured throughputs.
#include "orb/scale/throughput_curve.h"

#include <catch2/catch.hpp>
#include <vector>

using namespace corelane::scale;

namespace throughput_curve_test {

TEST_CASE("a speed-up is relative to one core") {
  const std::vector<ThroughputPoint> points{{1, 10}, {2, 20}, {4, 25}, {8, 5}};
  const auto result = speed_ups(points);
  REQUIRE(result.size() == 4);
  CHECK(result[0].speed_up == 1);
  CHECK_FALSE(result[0].serial_share);
  CHECK(result[1].speed_up == 2);
  CHECK(result[1].serial_share.value() == Approx(0).margin(1e-12));
  CHECK(result[2].serial_share.value() == Approx(.5));       // 2.5 = 4 - .5 x 3
  CHECK(result[3].serial_share.value() == Approx(7.5 / 7));  // less than one core
}

TEST_CASE("several measurements of one core count as their mean") {
  const std::vector<ThroughputPoint> points{{1, 8}, {1, 12}, {2, 15}};
  CHECK(speed_ups(points)[2].speed_up == Approx(1.5));
}

TEST_CASE("without a measurement of one core there is no speed-up") {
  CHECK(speed_ups({}).empty());
  CHECK(speed_ups(std::vector<ThroughputPoint>{{2, 20}}).empty());
  CHECK(speed_ups(std::vector<ThroughputPoint>{{1, 0}, {2, 20}}).empty());
}

TEST_CASE("throughput collapses if it falls by more than 5 percent after its highest point") {
  const auto collapse = [](std::vector<ThroughputPoint> points) { return collapse_point(points); };
  CHECK(collapse({{1, 10}, {2, 20}, {4, 15}}) == 2);
  CHECK_FALSE(collapse({{1, 10}, {2, 20}, {4, 19}}));
  CHECK(collapse({{1, 10}, {2, 20}, {4, 18.9}}) == 2);
  CHECK(collapse({{4, 15}, {2, 20}, {1, 10}}) == 2);  // in any order
  CHECK(collapse({{1, 10}, {2, 9}}) == 1);
  CHECK_FALSE(collapse({{1, 10}}));
  CHECK_FALSE(collapse({}));
}

TEST_CASE("measured throughput collapses if it falls by more than 5 percent and beyond the spread of the rounds") {
  const auto point = [](int cores, double low, double median, double high) {
    return MeasuredPoint{.median = {cores, median}, .spread = Spread{.low = low, .high = high}};
  };
  const auto collapse = [](std::vector<MeasuredPoint> points) { return collapse_beyond_spread(points); };
  CHECK(collapse({point(1, 10, 10, 10), point(2, 95, 100, 103), point(4, 92, 94, 94.9)}) == 2);
  CHECK_FALSE(collapse({point(1, 10, 10, 10), point(2, 95, 100, 103), point(4, 92, 94, 95)}));  // the spreads touch
  CHECK_FALSE(collapse({point(2, 99, 100, 101), point(4, 95, 95, 95)}));                        // 5 percent
  CHECK(collapse({point(2, 99, 100, 101), point(4, 94.9, 94.9, 94.9)}) == 2);
  CHECK(collapse({point(8, 50, 60, 70), point(4, 92, 94, 99), point(2, 95, 100, 103)}) == 2);  // in any order
  CHECK_FALSE(collapse({point(1, 40, 50, 51), point(2, 95, 100, 103)}));                       // fewer cores
  CHECK_FALSE(collapse({}));
}

TEST_CASE("single rounds show no collapse") {
  const std::vector<MeasuredPoint> points{{.median = {1, 100}, .spread = {}}, {.median = {2, 94}, .spread = {}}};
  CHECK_FALSE(collapse_beyond_spread(points));
}

}  // namespace throughput_curve_test
