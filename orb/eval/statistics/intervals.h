// Confidence intervals for fractions of independent trials, such as sets of tasks.
//
// Threads: pure functions.
//
// The folder orb/eval/statistics compares the results of experiments.
#pragma once

#include <cstdint>

namespace corelane::eval {

struct Interval {
  double low = 0;
  double high = 0;
};

// Returns the 95 % interval of a fraction after Wilson 1927: `hits` of `trials`, 0 <= hits <= trials. Without trials it
// is [0, 1].
Interval wilson(std::uint64_t hits, std::uint64_t trials) noexcept;

// The outcomes of two treatments, A and B, of the same trials.
struct Pairs {
  std::uint64_t trials = 0;
  std::uint64_t only_a = 0;  // trials that only A hit
  std::uint64_t only_b = 0;  // trials that only B hit
};

// Returns the 95 % interval of the difference: the fraction of A minus the fraction of B. Method: Agresti & Min 2005, a
// Wald interval with half a trial added to each of the four outcomes. Without trials it is [-1, 1].
Interval paired_difference(const Pairs& pairs) noexcept;

}  // namespace corelane::eval
