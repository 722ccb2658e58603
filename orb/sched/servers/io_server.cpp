#include "orb/sched/servers/io_server.h"

#include <algorithm>
#include <cassert>

#include "orb/sched/analysis/rational.h"
#include "orb/sched/ticks.h"

namespace corelane::sched {
namespace {

// Returns u / U, rounded up so that the next use never begins too early.
Duration pause_after(Duration used, Ppm share) noexcept {
  return Duration{static_cast<std::int64_t>((Wide{used.count()} * whole_core + share - 1) / share)};
}

}  // namespace

Duration io_budget(Ppm share, Duration period) noexcept {
  const auto budget = static_cast<std::int64_t>(Wide{period.count()} * share / whole_core);
  return Duration{std::max<std::int64_t>(budget, 1)};
}

IoServer::IoServer(Ppm share, Time start, Duration least) noexcept : share_(share), least_(least), eligible_(start) {
  assert(0 < share && share <= whole_core && least >= Duration::zero());
}

void IoServer::serve(Time now, const IoCaller& caller) noexcept {
  if (caller == caller_) return;
  settle();
  eligible_ = std::max(eligible_, now);
  caller_ = caller;
  budget_ = io_budget(share_, caller.period);
}

void IoServer::wake(Time now) noexcept { eligible_ = std::max(eligible_, now); }

void IoServer::charge(Time, Duration used) noexcept {
  used_ += used;
  if (used_ >= budget_) settle();
}

void IoServer::block(Time) noexcept { settle(); }

Duration IoServer::available(Time now) const noexcept { return eligible_ <= now ? budget_ - used_ : Duration::zero(); }

void IoServer::settle() noexcept {
  if (used_ == Duration::zero()) return;
  eligible_ += pause_after(std::max(used_, least_), share_);
  used_ = Duration::zero();
}

Interference io_interference(Ppm share, Duration period) noexcept {
  // The server's budget is rounded down. With many small uses the server can run for more than that in each T, so this
  // value is rounded up.
  const Wide budget = (Wide{period.count()} * share + whole_core - 1) / whole_core;
  return {.budget = static_cast<Ticks>(budget),
          .period = period.count(),
          .jitter = (period - io_budget(share, period)).count()};
}

Interference io_interference_without_jitter(Ppm share, Duration period) noexcept {
  constexpr Wide unit = Wide{whole_core} * whole_core;
  const Wide budget = (Wide{period.count()} * share * (2 * whole_core - share) + unit - 1) / unit;
  return {.budget = static_cast<Ticks>(budget), .period = period.count()};
}

bool rate_monotonic_with_io(std::span<const Usage> tasks, std::span<const Ppm> shares) noexcept {
  const Ticks n = std::max<Ticks>(static_cast<Ticks>(tasks.size()), 1);
  Rational sum;
  for (const Usage& task : tasks) sum += Rational(task.budget, task.period);
  for (const Ppm share : shares) {
    Rational term(share, whole_core);
    sum += (term *= Rational(2 * whole_core - share, whole_core));
  }
  Rational factor(1, n);
  factor *= sum;
  factor += Rational(1);
  Rational product(1);
  for (Ticks i = 0; i < n; ++i) {
    product *= factor;
    if (!product.at_most(2)) return false;
  }
  return true;
}

}  // namespace corelane::sched
