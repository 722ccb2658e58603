#include "orb/sim/workload.h"

#include <algorithm>
#include <cmath>

namespace corelane::sim {

double uniform(Random& random) { return static_cast<double>(random() >> 11) * 0x1.0p-53; }

std::vector<double> uunifast(Random& random, int n, double total) {
  std::vector<double> shares(static_cast<std::size_t>(n));
  for (bool sound = false; !sound;) {  // the probability of a retry is below 1 for total < n
    double rest = total;
    for (int i = 0; i < n - 1; ++i) {
      const double next = rest * std::pow(uniform(random), 1.0 / static_cast<double>(n - 1 - i));
      shares[static_cast<std::size_t>(i)] = rest - next;
      rest = next;
    }
    shares.back() = rest;
    sound = std::all_of(shares.begin(), shares.end(), [](double u) { return u <= 1; });
  }
  return shares;
}

std::vector<double> balanced(Random& random, int n, double total, double beta) {
  std::vector<double> shares(static_cast<std::size_t>(n));
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += shares[static_cast<std::size_t>(i)] = n == 1 ? 1 : std::pow(beta, i / (n - 1.0));
  for (double& share : shares) share *= total / sum;
  for (std::size_t i = shares.size(); i > 1; --i) std::swap(shares[i - 1], shares[random() % i]);
  if (std::any_of(shares.begin(), shares.end(), [](double u) { return u > 1; })) return {};
  return shares;
}

Duration log_uniform_period(Random& random, Duration low, Duration high) {
  const double from = std::log(static_cast<double>(low.count()));
  const double to = std::log(static_cast<double>(high.count()));
  const double period = std::exp(from + (to - from) * uniform(random));
  const auto micros = std::chrono::microseconds{static_cast<std::int64_t>(period / 1000)};
  return std::clamp<Duration>(micros, low, high);
}

Contract contract_of(double u, Duration period) {
  const auto budget = static_cast<std::int64_t>(u * static_cast<double>(period.count()));
  return {.period = period, .deadline = period, .budget = std::clamp(Duration{budget}, Duration{1}, period)};
}

}  // namespace corelane::sim
