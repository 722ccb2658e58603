#include "orb/sched/servers/deferrable_server.h"

#include <algorithm>
#include <cassert>

#include "orb/sched/analysis/rational.h"

namespace corelane::sched {

DeferrableServer::DeferrableServer(const Reservation& reservation, Time start) noexcept
    : reservation_(reservation), full_at_(start), budget_(reservation.budget) {
  assert(is_sound(reservation));
}

Duration DeferrableServer::budget(Time now) const noexcept {
  if (now < full_at_ + reservation_.period) return budget_;
  const auto fills = (now - full_at_) / reservation_.period;
  return std::min(reservation_.budget, std::min(budget_, Duration::zero()) + fills * reservation_.budget);
}

void DeferrableServer::advance(Time now) noexcept {
  if (now < full_at_ + reservation_.period) return;
  budget_ = budget(now);
  full_at_ += (now - full_at_) / reservation_.period * reservation_.period;
}

void DeferrableServer::charge(Time now, Duration used) noexcept {
  advance(now - used);
  while (used > Duration::zero()) {
    const Duration part = std::min(used, refill_after(std::max(now - used, full_at_)) - (now - used));
    budget_ -= part;
    used -= part;
    advance(now - used);
  }
  advance(now);
}

Time DeferrableServer::refill_after(Time now) const noexcept {
  return now + (reservation_.period - (now - full_at_) % reservation_.period);
}

Duration DeferrableServer::available(Time now) const noexcept {
  const Duration left = budget(now);
  if (now < full_at_ || left <= Duration::zero()) return Duration::zero();
  const Duration until_refill = refill_after(now) - now;
  return left < until_refill ? left : until_refill + reservation_.budget;
}

Time DeferrableServer::next(Time now) const noexcept {
  if (now < full_at_) return full_at_;
  const Duration left = budget(now);
  if (left > Duration::zero()) return now;
  // The first replenishments may only pay the debt.
  return refill_after(now) + -left / reservation_.budget * reservation_.period;
}

bool fits_below(const Reservation& deferrable, std::span<const Usage> tasks) noexcept {
  const Ticks c = deferrable.budget.count();
  const Ticks t = deferrable.period.count();
  const Ticks shortest = 4 * c <= t ? t : t + c;
  Rational product(2 * c + t, c + 2 * t);  // (2 U_s + 1) / (U_s + 2)
  for (const Usage& task : tasks) {
    if (task.period < shortest) return false;
    Rational factor(task.budget, task.period);
    product *= (factor += Rational(1));
    if (!product.at_most(1)) return false;
  }
  return product.at_most(1);
}

}  // namespace corelane::sched
