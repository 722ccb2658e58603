#include "orb/eval/statistics/significance.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

namespace corelane::eval {
namespace {

// Returns ln(n choose k). std::lgamma() is not used, since it writes to a global variable.
double log_choose(std::uint64_t n, std::uint64_t k) noexcept {
  double sum = 0;
  for (std::uint64_t i = 1; i <= std::min(k, n - k); ++i)
    sum += std::log(static_cast<double>(n + 1 - i)) - std::log(static_cast<double>(i));
  return sum;
}

}  // namespace

double mcnemar(const Pairs& pairs) noexcept {
  const std::uint64_t n = pairs.only_a + pairs.only_b;
  const std::uint64_t fewer = std::min(pairs.only_a, pairs.only_b);
  double log_term = -static_cast<double>(n) * std::log(2.0);  // of 0 successes
  double sum = std::exp(log_term);
  for (std::uint64_t k = 1; k <= fewer; ++k) {
    log_term += std::log(static_cast<double>(n + 1 - k)) - std::log(static_cast<double>(k));
    sum += std::exp(log_term);
  }
  return std::min(1.0, 2 * sum);
}

double fisher(const Hits& a, const Hits& b) noexcept {
  const std::uint64_t hits = a.hits + b.hits, trials = a.trials + b.trials;
  const std::uint64_t least = hits > b.trials ? hits - b.trials : 0, most = std::min(hits, a.trials);
  const auto log_probability = [&](std::uint64_t hits_of_a) {
    return log_choose(a.trials, hits_of_a) + log_choose(b.trials, hits - hits_of_a) - log_choose(trials, hits);
  };
  constexpr double rounding = 1e-9;  // tables that are equally likely count, although their logarithms may differ
  const double limit = log_probability(a.hits) + rounding;
  double log_term = log_probability(least);
  double sum = 0;
  for (std::uint64_t k = least; k <= most; ++k) {
    if (log_term <= limit) sum += std::exp(log_term);
    if (k == most) break;
    const auto ln = [](std::uint64_t x) { return std::log(static_cast<double>(x)); };
    log_term += ln(a.trials - k) + ln(hits - k) - ln(k + 1) - ln(b.trials + k + 1 - hits);
  }
  return std::min(1.0, sum);
}

std::vector<double> holm(std::span<const double> p_values) {
  std::vector<std::size_t> order(p_values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return p_values[i]; });
  std::vector<double> adjusted(p_values.size());
  double least = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    least = std::max(least, std::min(1.0, static_cast<double>(order.size() - i) * p_values[order[i]]));
    adjusted[order[i]] = least;
  }
  return adjusted;
}

}  // namespace corelane::eval
