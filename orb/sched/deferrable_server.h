// DeferrableServer (Lehoczky, Sha & Strosnider 1987; Strosnider, Lehoczky & Sha 1995): a budget of C that is full again
// at every multiple of T from its start, and keeps what is not used until then. Simpler than a sporadic server and
// quick to answer, but dearer to the others: at the end of one period and the beginning of the next it can use 2 C in
// one piece. To those below it is a task (C, T) with release jitter T - C.
//
// What it used too much (an overrun) is taken from the budgets to come, to the last unit.
#pragma once

#include <span>

#include "orb/sched/bounds.h"
#include "orb/sched/reservation.h"
#include "orb/sched/response_time.h"

namespace corelane::sched {

class DeferrableServer {
 public:
  // Full at `start`, and at each start + k T; nothing before. `reservation` is sound.
  explicit DeferrableServer(const Reservation& reservation, Time start = {}) noexcept;

  // What was used after a replenishment counts against that one. Bounded by used / T rounds.
  void charge(Time now, Duration used) noexcept;
  Duration available(Time now) const noexcept;  // counts the replenishment that the run would meet
  Time next(Time now) const noexcept;

  const Reservation& reservation() const noexcept { return reservation_; }
  // The rest of the period's budget; negative: a debt.
  Duration budget(Time now) const noexcept;

 private:
  void advance(Time now) noexcept;
  Time refill_after(Time now) const noexcept;

  Reservation reservation_;
  Time full_at_;     // the latest replenishment that budget_ knows of
  Duration budget_;  // as of full_at_, less what was charged since
};

inline Interference interference_of(const DeferrableServer& server) noexcept {
  const Reservation& r = server.reservation();
  return {.budget = r.budget.count(), .period = r.period.count(), .jitter = (r.period - r.budget).count()};
}

// Whether tasks hold their deadlines (implicit, rate-monotonic, without jitter) below a deferrable server of the
// highest priority: product of (U_i + 1) <= (U_s + 2) / (2 U_s + 1), the hyperbolic form of sum U_i <= ln((U_s + 2) /
// (2 U_s + 1)) and its superset. Sufficient. The bound speaks of periods T_i >= T_s + C_s, or T_i >= T_s where U_s <=
// 1/4; other sets are answered with no: below (3, 10) a task (43, 100) would pass it and be late.
bool fits_below(const Reservation& deferrable, std::span<const Usage> tasks) noexcept;

}  // namespace corelane::sched
