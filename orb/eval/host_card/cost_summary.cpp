#include "orb/eval/host_card/cost_summary.h"

#include <algorithm>
#include <cstddef>

namespace corelane::eval {

Duration quantile(const std::vector<Duration>& sorted, std::int64_t permille) noexcept {
  const auto count = static_cast<std::int64_t>(sorted.size());
  const std::int64_t rank = std::max<std::int64_t>((count * permille + 999) / 1000, 1);  // from 1
  return sorted[static_cast<std::size_t>(rank - 1)];
}

CostSummary summary_of(std::vector<Duration> samples) {
  if (samples.empty()) return {};
  std::ranges::sort(samples);
  return {.min = samples.front(),
          .median = quantile(samples, 500),
          .p99 = quantile(samples, 990),
          .max = samples.back(),
          .count = static_cast<std::int64_t>(samples.size())};
}

}  // namespace corelane::eval
