// Tests whether two treatments differ. Each returns the probability of a difference at least as large if there were
// none (the p-value, two-sided).
//
// Threads: pure functions. holm() allocates.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "orb/eval/statistics/intervals.h"

namespace corelane::eval {

inline constexpr double significance = 0.05;  // differences with a lower p-value count

// For two treatments of the same trials: the exact test of McNemar 1947. It asks whether the trials that only one of
// them hit are shared like the throws of a fair coin. Cost: the number of these trials.
double mcnemar(const Pairs& pairs) noexcept;

// Hits of one treatment.
struct Hits {
  std::uint64_t hits = 0;
  std::uint64_t trials = 0;  // >= hits
};

// For two treatments of different trials: the exact test of Fisher 1922. It sums the probabilities of all tables with
// the same sums that are at most as likely as this one. Cost: the number of hits.
double fisher(const Hits& a, const Hits& b) noexcept;

// Adjusts the p-values of several tests after Holm 1979. If each adjusted value is compared with `significance`, the
// probability that any test finds a difference where there is none stays below it. The order is that of the argument.
std::vector<double> holm(std::span<const double> p_values);

}  // namespace corelane::eval
