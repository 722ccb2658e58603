// Derives speed-up, serial share and collapse point from throughputs that were measured with several numbers of cores.
// Threads: pure functions.
#pragma once

#include <optional>
#include <span>
#include <vector>

namespace corelane::scale {

struct ThroughputPoint {
  int cores = 1;
  double throughput = 0;  // units of work per unit of time, of all cores together

  friend bool operator==(const ThroughputPoint&, const ThroughputPoint&) = default;
};

struct SpeedUp {
  int cores = 1;
  // The work that these cores did, divided by the work of one core in the same time. The time is fixed and the work
  // grows with the cores, so this is a fixed-time speed-up (Gustafson, CACM 31(5), 1988).
  double speed_up = 0;
  // The share s of the time that was serial, by Gustafson's law: speed_up = n - s (n - 1). Above 1 if more cores do
  // less than one. No value for one core.
  std::optional<double> serial_share{};
};

// Returns one element for each point, in the same order. Several points of one core count as their mean. The result is
// empty if no point of one core has a throughput above 0.
std::vector<SpeedUp> speed_ups(std::span<const ThroughputPoint> points);

// Throughput has collapsed if it is lower than the highest one by more than this share.
inline constexpr double collapse_drop = 0.05;

// Returns the number of cores with the highest throughput, if a point with more cores is lower by more than
// collapse_drop. Otherwise nothing: throughput does not collapse.
std::optional<int> collapse_point(std::span<const ThroughputPoint> points);

// By how much the throughputs differ that were measured in several rounds with one number of cores.
struct Spread {
  double low = 0, high = 0;
};

struct MeasuredPoint {
  ThroughputPoint median{};
  std::optional<Spread> spread{};  // no value: a single round does not show it
};

// Returns the number of cores with the highest median, if throughput falls beyond the spread: a point with more cores
// has a median that is lower by more than collapse_drop, and a spread that lies wholly below that of the highest one.
std::optional<int> collapse_beyond_spread(std::span<const MeasuredPoint> points);

}  // namespace corelane::scale
