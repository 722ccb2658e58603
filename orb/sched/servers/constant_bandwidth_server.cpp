#include "orb/sched/servers/constant_bandwidth_server.h"

#include <cassert>

#include "orb/sched/ticks.h"

namespace corelane::sched {

ConstantBandwidthServer::ConstantBandwidthServer(const Reservation& reservation, Exhausted exhausted) noexcept
    : reservation_(reservation), exhausted_(exhausted), budget_(reservation.budget) {
  assert(is_sound(reservation));
}

void ConstantBandwidthServer::wake(Time now) noexcept {
  const Wide owed = Wide{budget_.count()} * reservation_.period.count();
  if (deadline_ > now && owed <= Wide{(deadline_ - now).count()} * reservation_.budget.count()) return;
  deadline_ = now + reservation_.period;
  budget_ = reservation_.budget;
  eligible_ = now;
}

void ConstantBandwidthServer::charge(Time, Duration used) noexcept {
  budget_ -= used;
  if (budget_ > Duration::zero()) return;
  const auto renewals = -budget_ / reservation_.budget + 1;
  budget_ += renewals * reservation_.budget;
  deadline_ += renewals * reservation_.period;
  if (exhausted_ == Exhausted::waits) eligible_ = deadline_ - reservation_.period;
}

Time ConstantBandwidthServer::zero_lag() const noexcept {
  const Wide share = Wide{budget_.count()} * reservation_.period.count() / reservation_.budget.count();
  return deadline_ - Duration{static_cast<std::int64_t>(share)};
}

}  // namespace corelane::sched
