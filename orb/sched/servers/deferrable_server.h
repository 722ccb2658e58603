// DeferrableServer (Lehoczky, Sha & Strosnider 1987; Strosnider, Lehoczky & Sha 1995) has a budget of C. The budget is
// full again at every multiple of T from the start, and unused budget is kept until then. It is simpler than a sporadic
// server and responds quickly, but it costs the other tasks more. At the end of one period and the beginning of the
// next it can use 2 C without a pause. To lower-priority tasks it is a task (C, T) with release jitter T - C.
//
// If the server uses more than its budget (an overrun), the excess is taken from later budgets, to the last unit.
#pragma once

#include <span>

#include "orb/sched/analysis/bounds.h"
#include "orb/sched/response_time.h"
#include "orb/sched/servers/reservation.h"

namespace corelane::sched {

class DeferrableServer {
 public:
  // The budget is full at `start` and at each start + k T. Before `start` it is zero. `reservation` is sound.
  explicit DeferrableServer(const Reservation& reservation, Time start = {}) noexcept;

  // Charges `used`. What was used after a replenishment is charged to that replenishment. Bound: used / T rounds.
  void charge(Time now, Duration used) noexcept;
  Duration available(Time now) const noexcept;  // includes a replenishment that occurs during the run
  Time next(Time now) const noexcept;

  const Reservation& reservation() const noexcept { return reservation_; }
  // Returns the rest of this period's budget. A negative value is a debt.
  Duration budget(Time now) const noexcept;

 private:
  void advance(Time now) noexcept;
  Time refill_after(Time now) const noexcept;

  Reservation reservation_;
  Time full_at_;     // the latest replenishment that budget_ includes
  Duration budget_;  // the budget at full_at_, less what was charged after it
};

inline Interference interference_of(const DeferrableServer& server) noexcept {
  const Reservation& r = server.reservation();
  return {.budget = r.budget.count(), .period = r.period.count(), .jitter = (r.period - r.budget).count()};
}

// Returns whether tasks meet their deadlines below a deferrable server of the highest priority. The tasks are
// rate-monotonic with implicit deadlines and no jitter. The test is product of (U_i + 1) <= (U_s + 2) / (2 U_s + 1).
// This is the hyperbolic form of sum U_i <= ln((U_s + 2) / (2 U_s + 1)), and it admits more. It is sufficient.
//
// The bound applies to periods T_i >= T_s + C_s, or T_i >= T_s where U_s <= 1/4. For other sets the function returns
// false: below (3, 10), a task (43, 100) would pass the test and miss its deadline.
bool fits_below(const Reservation& deferrable, std::span<const Usage> tasks) noexcept;

}  // namespace corelane::sched
