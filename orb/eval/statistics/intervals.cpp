#include "orb/eval/statistics/intervals.h"

#include <algorithm>
#include <cmath>

namespace corelane::eval {
namespace {

constexpr double normal_quantile = 1.959963984540054;  // 97.5 % of the standard normal distribution lie below

}  // namespace

Interval wilson(std::uint64_t hits, std::uint64_t trials) noexcept {
  if (trials == 0) return {.low = 0, .high = 1};
  const auto n = static_cast<double>(trials);
  const double p = static_cast<double>(hits) / n;
  constexpr double z2 = normal_quantile * normal_quantile;
  const double center = (p + z2 / (2 * n)) / (1 + z2 / n);
  const double half = normal_quantile / (1 + z2 / n) * std::sqrt(p * (1 - p) / n + z2 / (4 * n * n));
  return {.low = hits == 0 ? 0 : std::max(0.0, center - half),
          .high = hits == trials ? 1 : std::min(1.0, center + half)};
}

Interval paired_difference(const Pairs& pairs) noexcept {
  if (pairs.trials == 0) return {.low = -1, .high = 1};
  const double n = static_cast<double>(pairs.trials) + 2;
  const double a = static_cast<double>(pairs.only_a) + 0.5, b = static_cast<double>(pairs.only_b) + 0.5;
  const double difference = (a - b) / n;
  const double half = normal_quantile * std::sqrt(std::max(0.0, a + b - (a - b) * (a - b) / n)) / n;
  return {.low = std::max(-1.0, difference - half), .high = std::min(1.0, difference + half)};
}

}  // namespace corelane::eval
