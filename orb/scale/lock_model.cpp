#include "orb/scale/lock_model.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "orb/scale/throughput_curve.h"

namespace corelane::scale {
namespace {

// Returns the time of a section and its hand-over while `requesters` cores hold or wait for the lock.
double time_of_section(const LockModel& model, int requesters) {
  return model.section + model.hand_over * requesters / 2;
}

// Returns the probabilities of 0 to `cores` requesters. Logarithms, because the products leave the range of double.
std::vector<double> probabilities(const LockModel& model, int cores) {
  std::vector<double> values{0};
  for (int k = 0; k < cores; ++k) {
    const double births = (cores - k) / model.outside;
    values.push_back(values.back() + std::log(births * time_of_section(model, k + 1)));
  }
  const double highest = *std::max_element(values.begin(), values.end());
  double sum = 0;
  for (double& value : values) sum += value = std::exp(value - highest);
  for (double& value : values) value /= sum;
  return values;
}

}  // namespace

std::string fault_of(const LockModel& model) {
  const auto is_time = [](double value) { return std::isfinite(value) && value > 0; };
  if (!is_time(model.outside)) return "the time outside of the lock (T_ncs) is not above 0; give a positive time";
  if (!is_time(model.section)) return "the time of the critical section (T_cs) is not above 0; give a positive time";
  if (!is_time(model.hand_over) && model.hand_over != 0)
    return "the hand-over cost is below 0; give 0 or a positive time";
  return "";
}

LockPoint point_of(const LockModel& model, int cores, double throughput, double requesters, double busy) {
  return {.cores = cores,
          .throughput = throughput,
          .speed_up = throughput * (model.outside + model.section),
          .cores_outside = throughput * model.outside,
          .waiting_share = std::max(requesters - busy, 0.0) / cores};
}

LockPoint solve(const LockModel& model, int cores) {
  const std::vector<double> probability = probabilities(model, cores);
  double throughput = 0, requesters = 0;
  for (int k = 1; k <= cores; ++k) {
    const double share = probability[static_cast<std::size_t>(k)];
    throughput += share / time_of_section(model, k);
    requesters += share * k;
  }
  return point_of(model, cores, throughput, requesters, 1 - probability.front());
}

std::vector<LockPoint> solve(const LockModel& model, std::span<const int> cores) {
  std::vector<LockPoint> points;
  for (const int count : cores) points.push_back(solve(model, count));
  return points;
}

std::optional<int> collapse_point(const LockModel& model, int most) {
  std::vector<ThroughputPoint> curve;
  for (int cores = 1; cores <= most; ++cores) curve.push_back({cores, solve(model, cores).throughput});
  return collapse_point(curve);
}

}  // namespace corelane::scale
