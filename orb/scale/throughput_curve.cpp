#include "orb/scale/throughput_curve.h"

#include <algorithm>

namespace corelane::scale {
namespace {

// Returns the mean throughput of the points of one core; 0 if there are none.
double throughput_of_one(std::span<const ThroughputPoint> points) {
  double sum = 0;
  int count = 0;
  for (const ThroughputPoint& point : points) {
    if (point.cores != 1) continue;
    sum += point.throughput;
    ++count;
  }
  return count == 0 ? 0 : sum / count;
}

}  // namespace

std::vector<SpeedUp> speed_ups(std::span<const ThroughputPoint> points) {
  const double one = throughput_of_one(points);
  if (!(one > 0)) return {};
  std::vector<SpeedUp> result;
  for (const ThroughputPoint& point : points) {
    SpeedUp& entry = result.emplace_back();
    entry.cores = point.cores;
    entry.speed_up = point.throughput / one;
    if (point.cores > 1) entry.serial_share = (point.cores - entry.speed_up) / (point.cores - 1);
  }
  return result;
}

std::optional<int> collapse_point(std::span<const ThroughputPoint> points) {
  if (points.empty()) return std::nullopt;
  const auto by_throughput = [](const ThroughputPoint& a, const ThroughputPoint& b) {
    return a.throughput < b.throughput;
  };
  const ThroughputPoint& highest = *std::max_element(points.begin(), points.end(), by_throughput);
  const double floor = (1 - collapse_drop) * highest.throughput;
  const bool falls = std::any_of(points.begin(), points.end(), [&](const ThroughputPoint& point) {
    return point.cores > highest.cores && point.throughput < floor;
  });
  return falls ? std::optional(highest.cores) : std::nullopt;
}

std::optional<int> collapse_beyond_spread(std::span<const MeasuredPoint> points) {
  if (points.empty()) return std::nullopt;
  const auto by_median = [](const MeasuredPoint& a, const MeasuredPoint& b) {
    return a.median.throughput < b.median.throughput;
  };
  const MeasuredPoint& highest = *std::max_element(points.begin(), points.end(), by_median);
  const double floor = (1 - collapse_drop) * highest.median.throughput;
  const bool falls = std::any_of(points.begin(), points.end(), [&](const MeasuredPoint& point) {
    return point.median.cores > highest.median.cores && point.median.throughput < floor && point.spread &&
           highest.spread && point.spread->high < highest.spread->low;
  });
  return falls ? std::optional(highest.median.cores) : std::nullopt;
}

}  // namespace corelane::scale
