// ConstantBandwidthServer (Abeni & Buttazzo 1998): a reservation under earliest deadline first, Q every P. Its work has
// the deadline d and the budget q of the server. It is to all others a task (Q, P) with the deadline P, whatever its
// work does: while the shares of a core's servers sum to at most one, each gets its Q before each of its deadlines.
//   wake(now)  a new start, d = now + P and q = Q, when what is left would be more than its share until d:
//              q / (d - now) > Q / P, or d has passed; otherwise q and d go on
//   charge(u)  q -= u; each time nothing is left, d += P and q += Q
// A server that postpones goes on at once under its later deadline, and so uses what others leave; one that waits is
// not eligible before d - P, as SCHED_DEADLINE has it.
//
// D = P only: for D < P the rule above would start anew too often, and a safe one needs a test by density.
#pragma once

#include "orb/sched/demand.h"
#include "orb/sched/reservation.h"

namespace corelane::sched {

enum class Exhausted : std::uint8_t { postpones, waits };

class ConstantBandwidthServer {
 public:
  explicit ConstantBandwidthServer(const Reservation& reservation, Exhausted exhausted = Exhausted::postpones) noexcept;

  void wake(Time now) noexcept;
  void charge(Time now, Duration used) noexcept;
  Duration available(Time now) const noexcept { return eligible_ <= now ? budget_ : Duration::zero(); }
  Time next(Time) const noexcept { return eligible_; }

  Time deadline() const noexcept { return deadline_; }
  Duration budget() const noexcept { return budget_; }  // 0 < q <= Q
  const Reservation& reservation() const noexcept { return reservation_; }

  // When a server that has left is no burden any more: its bandwidth may be promised to others from max(now, d - q P /
  // Q) on. Before that its use was ahead of its share.
  Time zero_lag() const noexcept;

 private:
  Reservation reservation_;
  Exhausted exhausted_;
  Duration budget_;
  Time deadline_{};
  Time eligible_{};
};

inline EdfTask demand_of(const ConstantBandwidthServer& server) noexcept {
  const Reservation& r = server.reservation();
  return {.budget = r.budget.count(), .period = r.period.count(), .deadline = r.period.count()};
}

}  // namespace corelane::sched
