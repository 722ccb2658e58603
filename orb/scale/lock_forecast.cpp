#include "orb/scale/lock_forecast.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <set>
#include <utility>

#include "orb/scale/minimize.h"

namespace corelane::scale {
namespace {

// Where searches begin: the section's share of the time outside, and the hand-over cost's share of the section.
constexpr std::array section_shares{1e-3, 1e-2, 1e-1, 1.0};
constexpr std::array hand_over_shares{1e-2, 1e-1, 1.0};

bool is_positive(double value) { return std::isfinite(value) && value > 0; }

bool are_sound(std::span<const ThroughputPoint> points) {
  return std::all_of(points.begin(), points.end(),
                     [](const ThroughputPoint& point) { return point.cores >= 1 && is_positive(point.throughput); });
}

std::set<int> core_counts(std::span<const ThroughputPoint> points) {
  std::set<int> counts;
  for (const ThroughputPoint& point : points) counts.insert(point.cores);
  return counts;
}

// Returns log(measured / predicted) for each point.
Vector log_ratios(std::span<const ThroughputPoint> measured, const LockModel& model) {
  Vector ratios;
  for (const ThroughputPoint& point : measured)
    ratios.push_back(std::log(point.throughput / solve(model, point.cores).throughput));
  return ratios;
}

double mean_of(const Vector& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// Returns the mean square of the distances to `center`.
double mean_square(const Vector& values, double center) {
  double sum = 0;
  for (const double value : values) sum += (value - center) * (value - center);
  return sum / static_cast<double>(values.size());
}

LockFit fit_of(std::span<const ThroughputPoint> measured, const LockModel& model) {
  return {.model = model, .error = std::sqrt(mean_square(log_ratios(measured, model), 0))};
}

// The variable of the search is the logarithm of the hand-over cost.
LockFit fit_hand_over(std::span<const ThroughputPoint> measured, const KnownTimes& known) {
  const auto model_of = [&known](const Vector& at) {
    return LockModel{.outside = known.outside, .section = known.section, .hand_over = std::exp(at[0])};
  };
  const auto cost = [&](const Vector& at) { return mean_square(log_ratios(measured, model_of(at)), 0); };
  // Without hand-over cost: its logarithm does not exist.
  LockFit best = fit_of(measured, {.outside = known.outside, .section = known.section, .hand_over = 0});
  for (const double share : hand_over_shares) {
    const LockFit fit = fit_of(measured, model_of(minimize(cost, {std::log(share * known.section)}, 1)));
    if (fit.error < best.error) best = fit;
  }
  return best;
}

// The variables are the logarithms of T_cs / T_ncs and c / T_ncs. If all times grow by a factor, throughput shrinks by
// it. So T_ncs follows from the mean difference.
LockFit fit_all(std::span<const ThroughputPoint> measured) {
  const auto shape_of = [](const Vector& at) {
    return LockModel{.outside = 1, .section = std::exp(at[0]), .hand_over = std::exp(at[1])};
  };
  const auto cost = [&](const Vector& at) {
    const Vector ratios = log_ratios(measured, shape_of(at));
    return mean_square(ratios, mean_of(ratios));
  };
  LockFit best{.model = {}, .error = std::numeric_limits<double>::infinity()};
  for (const double section : section_shares)
    for (const double hand_over : hand_over_shares) {
      const LockModel shape = shape_of(minimize(cost, {std::log(section), std::log(section * hand_over)}, 1));
      const double scale = std::exp(-mean_of(log_ratios(measured, shape)));
      const LockFit fit = fit_of(
          measured,
          {.outside = scale * shape.outside, .section = scale * shape.section, .hand_over = scale * shape.hand_over});
      if (fit.error < best.error) best = fit;
    }
  return best;
}

std::vector<ThroughputPoint> points_where(std::span<const ThroughputPoint> points, const auto& holds) {
  std::vector<ThroughputPoint> result;
  for (const ThroughputPoint& point : points)
    if (holds(point)) result.push_back(point);
  return result;
}

std::vector<PredictedPoint> predict(std::span<const ThroughputPoint> points, const LockModel& model) {
  std::vector<PredictedPoint> result;
  for (const ThroughputPoint& point : points)
    result.push_back({point.cores, point.throughput, solve(model, point.cores).throughput});
  return result;
}

double mean_absolute_error(std::span<const PredictedPoint> points) {
  double sum = 0;
  for (const PredictedPoint& point : points) sum += std::abs(point.error());
  return sum / static_cast<double>(points.size());
}

LockForecast not_testable(std::string reason) {
  LockForecast result;
  result.not_testable = std::move(reason);
  return result;
}

}  // namespace

std::optional<LockFit> fit_lock(std::span<const ThroughputPoint> measured, const std::optional<KnownTimes>& known) {
  if (!are_sound(measured)) return std::nullopt;
  const std::set<int> counts = core_counts(measured);
  if (!known) return counts.size() < 3 ? std::nullopt : std::optional(fit_all(measured));
  const bool waits = !counts.empty() && *counts.rbegin() >= 2;
  if (!waits || !is_positive(known->outside) || !is_positive(known->section)) return std::nullopt;
  return fit_hand_over(measured, *known);
}

LockForecast forecast(std::span<const ThroughputPoint> measured, const std::optional<KnownTimes>& known) {
  const std::set<int> counts = core_counts(measured);
  const int most = counts.empty() ? 0 : *counts.rbegin();
  if (most < least_cores_of_forecast)
    return not_testable("a prediction needs measurements with up to " + std::to_string(least_cores_of_forecast) +
                        " cores or more; these have at most " + std::to_string(most));
  if (!are_sound(measured)) return not_testable("a throughput is not above 0; measure it again, or leave it out");
  const auto lower = points_where(measured, [most](const ThroughputPoint& point) { return point.cores <= most / 2; });
  const auto upper = points_where(measured, [most](const ThroughputPoint& point) { return point.cores > most / 2; });
  const auto fit = fit_lock(lower, known);
  if (!fit)
    return not_testable(
        known ? "with known times, the lower half needs a point with 2 cores or more, and both times are above 0"
              : "the lower half needs three numbers of cores");
  LockForecast result;
  result.fit = *fit;
  result.highest_fitted = *core_counts(lower).rbegin();
  result.upper = predict(upper, fit->model);
  result.mean_error = mean_absolute_error(result.upper);
  result.measured_collapse = collapse_point(measured);
  result.predicted_collapse = collapse_point(fit->model, 4 * most);
  return result;
}

}  // namespace corelane::scale
