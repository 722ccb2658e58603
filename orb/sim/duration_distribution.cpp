#include "orb/sim/duration_distribution.h"

#include <algorithm>
#include <utility>

namespace corelane::sim {

DurationDistribution DurationDistribution::of_quantiles(std::vector<Duration> values) {
  for (Duration& value : values) value = std::clamp(value, Duration::zero(), longest_random_time);
  std::sort(values.begin(), values.end());
  if (values.empty()) return {};
  if (values.front() == values.back()) return DurationDistribution(values.front());
  DurationDistribution result;
  result.quantiles_ = std::move(values);
  return result;
}

// Multiplies 32 bits of the fraction by the number of pieces. The upper half of the product is the piece. The lower
// half is the place within the piece. A piece is shorter than 2^31 ns, so the second product fits, too.
Duration DurationDistribution::interpolated(std::uint64_t fraction) const {
  const std::uint64_t place = (fraction >> 32) * (quantiles_.size() - 1);
  const auto piece = static_cast<std::size_t>(place >> 32);
  const auto length = static_cast<std::uint64_t>((quantiles_[piece + 1] - quantiles_[piece]).count());
  return quantiles_[piece] + Duration{static_cast<std::int64_t>(length * (place & 0xffff'ffff) >> 32)};
}

}  // namespace corelane::sim
