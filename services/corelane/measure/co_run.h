// Computes statistics of operations that were measured beside other work on the same last-level cache. These are the
// confidence interval of a slowdown, and the correlation between slowdowns and what the processor counted.
// Threads: pure functions. Allocates.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "orb/base/time.h"
#include "orb/eval/scenario.h"

namespace corelane::tool {

struct FactorRange {
  double low = 0, high = 0;
};

// Returns the rank r, from 1, for which the median of the distribution lies between the r-th smallest and the r-th
// largest of so many samples with a probability of 97.5 % or more. 0: there are too few samples, fewer than 7.
std::size_t median_rank(std::size_t samples);

// Returns the 95 % confidence interval of the median of `together` divided by that of `alone`; nothing if there are too
// few samples. Both are sorted. Each median is in an interval of 97.5 %, so both are in theirs with 95 % or more.
std::optional<FactorRange> factor_range(std::span<const Duration> alone, std::span<const Duration> together);

// How well a metric tells how much an operation is slowed down.
struct MetricRow {
  std::string_view name;  // of the field in a [[slowdown]] table
  std::size_t pairs = 0;  // that have the metric
  // The coefficient of correlation (Pearson) of metric and factor over the pairs. Nothing: fewer than two pairs, or
  // either does not vary.
  std::optional<double> coefficient{};
  // How much the metric varies for one operation beside different work. It is the standard deviation divided by the
  // mean, on average over the operations with two pairs or more. Less is more stable. Nothing: there is no such
  // operation.
  std::optional<double> variation{};
};
std::vector<MetricRow> metric_rows(std::span<const eval::PairSlowdown> pairs);

// Returns the table for people, or a sentence that says why there is none.
std::string metrics_text(const std::vector<MetricRow>& rows);

}  // namespace corelane::tool
