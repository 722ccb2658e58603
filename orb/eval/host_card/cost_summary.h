// CostSummary describes many samples of one cost by a few numbers.
//
// Threads: values; the functions are pure and allocate.
#pragma once

#include <cstdint>
#include <vector>

#include "orb/base/time.h"

namespace corelane::eval {

struct CostSummary {
  Duration min{}, median{}, p99{}, max{};
  std::int64_t count = 0;  // how many samples there are; 0: the durations mean nothing

  friend constexpr bool operator==(const CostSummary&, const CostSummary&) = default;
};

// Returns the smallest sample such that at least `permille` thousandths of the samples do not exceed it (nearest rank).
// `sorted` is sorted and not empty; `permille` is from 0 to 1000.
Duration quantile(const std::vector<Duration>& sorted, std::int64_t permille) noexcept;

// Returns a summary without samples for no samples.
CostSummary summary_of(std::vector<Duration> samples);

}  // namespace corelane::eval
