// Fits a LockModel to measured throughput, and checks how well it predicts. The fit uses the lower half of the core
// counts. The prediction is for the upper half and the collapse point.
// Threads: pure functions. Not for real-time threads: a fit may take a second and allocates.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "orb/scale/lock_model.h"
#include "orb/scale/throughput_curve.h"

namespace corelane::scale {

// Times that were measured apart from throughput, in the unit of time of the throughput.
struct KnownTimes {
  double outside = 0;  // T_ncs, above 0
  double section = 0;  // T_cs, above 0
};

struct LockFit {
  LockModel model{};
  double error = 0;  // root of the mean square of the relative errors at the fitted points
};

// Returns the model whose throughput differs least from the measured one (least squares of logarithms). With known
// times only the hand-over cost is fitted, and one point with two or more cores is enough. Without them the points
// need three different numbers of cores. Nothing is returned if there are fewer, or if a throughput or time is not
// above 0.
std::optional<LockFit> fit_lock(std::span<const ThroughputPoint> measured, const std::optional<KnownTimes>& known = {});

struct PredictedPoint {
  int cores = 1;
  double measured = 0;
  double predicted = 0;

  double error() const { return predicted / measured - 1; }  // relative
};

struct LockForecast {
  std::string not_testable{};              // why nothing was predicted; "" if it was. The rest is then empty
  LockFit fit{};                           // from the lower half
  int highest_fitted = 0;                  // cores
  std::vector<PredictedPoint> upper{};     // of the upper half
  double mean_error = 0;                   // mean of the absolute values of upper's errors
  std::optional<int> measured_collapse{};  // collapse_point() of all measured points
  // collapse_point() of the model, up to four times the highest measured number of cores.
  std::optional<int> predicted_collapse{};
};

// The lower half of fewer cores says too little about waiting.
inline constexpr int least_cores_of_forecast = 8;

// Fits the points with at most half of the highest number of cores, and predicts the others.
LockForecast forecast(std::span<const ThroughputPoint> measured, const std::optional<KnownTimes>& known = {});

}  // namespace corelane::scale
