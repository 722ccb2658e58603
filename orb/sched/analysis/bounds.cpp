#include "orb/sched/analysis/bounds.h"

#include "orb/sched/analysis/rational.h"

namespace corelane::sched {
namespace {

Rational sum_of(std::span<const Usage> tasks) noexcept {
  Rational sum;
  for (const Usage& task : tasks) sum += Rational(task.budget, task.period);
  return sum;
}

}  // namespace

bool liu_layland(std::span<const Usage> tasks) noexcept {
  const auto n = static_cast<Ticks>(tasks.size());
  if (n == 0) return true;
  Rational factor = sum_of(tasks);
  factor *= Rational(1, n);
  factor += Rational(1);
  Rational product(1);
  for (Ticks i = 0; i < n; ++i) {
    product *= factor;
    if (!product.at_most(2)) return false;
  }
  return true;
}

bool hyperbolic(std::span<const Usage> tasks) noexcept {
  Rational product(1);
  for (const Usage& task : tasks) {
    Rational factor(task.budget, task.period);
    product *= (factor += Rational(1));
    if (!product.at_most(2)) return false;
  }
  return true;
}

bool goossens_funk_baruah(std::span<const Usage> tasks, int cores) noexcept {
  Usage largest{.budget = 0, .period = 1};
  for (const Usage& task : tasks)
    if (Wide{task.budget} * largest.period > Wide{largest.budget} * task.period) largest = task;
  if (cores < 1 || largest.budget > largest.period) return false;
  // sum + (m - 1) max <= m, all terms positive.
  Rational needed = sum_of(tasks);
  Rational extra(largest.budget, largest.period);
  extra *= Rational(cores - 1);
  return (needed += extra).at_most(cores);
}

bool aperiodic_bound(std::span<const std::int64_t> utilization_ppm) noexcept {
  constexpr std::int64_t one = 1'000'000;
  Rational sum;
  for (const std::int64_t u : utilization_ppm) {
    if (u >= one) return false;
    // U (1 - U/2) / (1 - U) with U = u / one: u (2 one - u) / (2 one (one - u)).
    sum += Rational(u * (2 * one - u), 2 * one * (one - u));
  }
  return sum.at_most(1);
}

bool valid(const AperiodicPolicy& policy) noexcept {
  if (policy.admission == When::never) return false;
  return !(policy.admission == When::per_task && policy.idle_resetting == When::per_job);
}

}  // namespace corelane::sched
