// AnalysisBudget limits the time above all tasks that the manager spends on new tasks. The analysis charges the
// platform's budget in each of its periods, so new tasks get that much, as from a sporadic server. The rest of their
// work is done below the tasks. A step that has begun is not interrupted. If it takes too long, the new tasks wait
// longer after it.
//
// Threads: owned by the holder of the manager's lock. No clock.
#pragma once

#include <algorithm>
#include <optional>

#include "orb/base/time.h"
#include "orb/sched/servers/reservation.h"
#include "orb/sched/servers/sporadic_server.h"
#include "orb/sched/task.h"

namespace corelane::dispatch {

class AnalysisBudget {
 public:
  // The most that one step is charged, in budgets. If a step was longer, the host of a virtual machine took the time.
  static constexpr int longest_step = 10;

  // A load without a budget is neither charged nor limited.
  explicit AnalysisBudget(const sched::PlatformLoad& load) {
    const sched::Reservation reservation{.budget = load.budget, .period = load.period};
    if (sched::is_sound(reservation)) server_.emplace(reservation);
  }

  // Returns whether time is left. Call it when a step begins.
  bool is_left(Time now) noexcept {
    if (!server_) return true;
    server_->wake(now);
    return server_->available(now) > Duration::zero();
  }
  // Charges a step. Call it only if is_left() was true for it.
  void charge(Time begun, Time ended) noexcept {
    if (!server_ || ended <= begun) return;
    server_->charge(ended, std::min(ended - begun, longest_step * server_->reservation().budget));
  }
  // Returns when there is time again. A time that has passed: there is time now.
  Time back_at(Time now) const noexcept {
    return !server_ || server_->available(now) > Duration::zero() ? Time{} : server_->next(now);
  }

 private:
  std::optional<sched::SporadicServer> server_;  // nothing: no limit
};

}  // namespace corelane::dispatch
