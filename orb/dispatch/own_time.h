// OwnTime: how much of the manager's time above all tasks newcomers may still have. The analysis charges the platform's
// budget in each of its periods, so that is what they get, as from a sporadic server; what they ask for beyond it is
// done below the tasks. A step that was begun is not interrupted: what it takes too much is paid by waiting.
//
// Threads: owned by whoever holds the manager's lock. No clock.
#pragma once

#include <algorithm>
#include <optional>

#include "orb/base/time.h"
#include "orb/sched/reservation.h"
#include "orb/sched/sporadic_server.h"
#include "orb/sched/task.h"

namespace corelane::dispatch {

class OwnTime {
 public:
  // The most that one step may cost, in budgets: what was longer the host took, on a machine that is virtual.
  static constexpr int longest_step = 10;

  // A load without a budget is not charged, and not limited.
  explicit OwnTime(const sched::PlatformLoad& load) {
    const sched::Reservation reservation{.budget = load.budget, .period = load.period};
    if (sched::is_sound(reservation)) server_.emplace(reservation);
  }

  // At the begin of a step.
  bool is_left(Time now) noexcept {
    if (!server_) return true;
    server_->wake(now);
    return server_->available(now) > Duration::zero();
  }
  // After a step that had something left.
  void charge(Time begun, Time ended) noexcept {
    if (!server_ || ended <= begun) return;
    server_->charge(ended, std::min(ended - begun, longest_step * server_->reservation().budget));
  }
  // Nothing is left before then; a time that has passed: something is.
  Time back_at(Time now) const noexcept {
    return !server_ || server_->available(now) > Duration::zero() ? Time{} : server_->next(now);
  }

 private:
  std::optional<sched::SporadicServer> server_;  // nothing: no limit
};

}  // namespace corelane::dispatch
