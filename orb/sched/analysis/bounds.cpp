#include "orb/sched/analysis/bounds.h"

#include <algorithm>
#include <cstdint>

#include "orb/sched/analysis/rational.h"

namespace corelane::sched {
namespace {

// A value between two bounds, in units of 2^-60. It decides nearly all sets in a fraction of the time that exact
// fractions take.
struct Bracket {
  Wide low = 0;
  Wide high = 0;

  Bracket& operator+=(const Bracket& other) noexcept { return low += other.low, high += other.high, *this; }
};
constexpr int digits = 60;
constexpr Wide fixed_one = Wide{1} << digits;

// Returns the utilization of a task, which is at most 1.
Bracket share_bracket(const Usage& task) noexcept {
  const Wide scaled = Wide{task.budget} << digits;  // at most 123 bits
  return {scaled / task.period, (scaled + task.period - 1) / task.period};
}

// Multiplies a product of at most 2 by 1 + share, where the share is at most 1.
void multiply(Bracket& product, const Bracket& share) noexcept {
  product.low = (product.low * (fixed_one + share.low)) >> digits;
  product.high = (product.high * (fixed_one + share.high) + fixed_one - 1) >> digits;
}

enum class Quick : std::uint8_t { at_most_two, above_two, unknown };

Quick compared_with_two(const Bracket& product) noexcept {
  if (product.low > 2 * fixed_one) return Quick::above_two;
  return product.high <= 2 * fixed_one ? Quick::at_most_two : Quick::unknown;
}

// Compares the product of 1 + U over all tasks with 2.
Quick quick_product(std::span<const Usage> tasks) noexcept {
  Bracket product{fixed_one, fixed_one};
  for (const Usage& task : tasks) {
    if (task.budget > task.period || product.low > 2 * fixed_one) return Quick::above_two;
    multiply(product, share_bracket(task));
  }
  return compared_with_two(product);
}

// Compares (1 + sum U / n)^n with 2.
Quick quick_power(std::span<const Usage> tasks) noexcept {
  const auto n = static_cast<Ticks>(tasks.size());
  Bracket sum;
  for (const Usage& task : tasks) {
    if (task.budget > task.period || sum.low > fixed_one) return Quick::above_two;
    sum += share_bracket(task);
  }
  if (sum.high > fixed_one) return Quick::unknown;
  const Bracket share{sum.low / n, (sum.high + n - 1) / n};
  Bracket product{fixed_one, fixed_one};
  for (Ticks i = 0; i < n; ++i) {
    if (product.low > 2 * fixed_one) return Quick::above_two;
    multiply(product, share);
  }
  return compared_with_two(product);
}

Rational sum_of(std::span<const Usage> tasks) noexcept {
  Rational sum;
  for (const Usage& task : tasks) sum += Rational(task.budget, task.period);
  return sum;
}

}  // namespace

bool liu_layland(std::span<const Usage> tasks) noexcept {
  const auto n = static_cast<Ticks>(tasks.size());
  if (n == 0) return true;
  if (const Quick quick = quick_power(tasks); quick != Quick::unknown) return quick == Quick::at_most_two;
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
  if (const Quick quick = quick_product(tasks); quick != Quick::unknown) return quick == Quick::at_most_two;
  Rational product(1);
  for (const Usage& task : tasks) {
    Rational factor(task.budget, task.period);
    product *= (factor += Rational(1));
    if (!product.at_most(2)) return false;
  }
  return true;
}

bool goossens_funk_baruah(std::span<const SporadicTask> tasks, int cores) noexcept {
  Usage largest{.budget = 0, .period = 1};
  Rational needed;
  for (const SporadicTask& task : tasks) {
    const Usage density{task.budget, std::min(task.deadline, task.period)};
    needed += Rational(density.budget, density.period);
    if (Wide{density.budget} * largest.period > Wide{largest.budget} * density.period) largest = density;
  }
  if (cores < 1 || largest.budget > largest.period) return false;
  // sum + (m - 1) max <= m, all terms positive.
  Rational extra(largest.budget, largest.period);
  extra *= Rational(cores - 1);
  return (needed += extra).at_most(cores);
}

bool aperiodic_bound(std::span<const std::int64_t> utilization_ppm) noexcept {
  constexpr std::int64_t whole = 1'000'000;
  Rational sum;
  for (const std::int64_t u : utilization_ppm) {
    if (u >= whole) return false;
    // U (1 - U/2) / (1 - U) with U = u / whole: u (2 whole - u) / (2 whole (whole - u)).
    sum += Rational(u * (2 * whole - u), 2 * whole * (whole - u));
  }
  return sum.at_most(1);
}

bool valid(const AperiodicPolicy& policy) noexcept {
  if (policy.admission == When::never) return false;
  return !(policy.admission == When::per_task && policy.idle_resetting == When::per_job);
}

}  // namespace corelane::sched
