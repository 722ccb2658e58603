// ConstantBandwidthServer (Abeni & Buttazzo 1998) is a reservation of Q every P under earliest deadline first. Its work
// has the deadline d and the budget q of the server. To all other tasks it behaves like a task (Q, P) with the deadline
// P, whatever its work does. While the shares of a core's servers sum to at most one, each server gets its Q before
// each of its deadlines.
//   wake(now)  sets d = now + P and q = Q if d has passed, or if q / (d - now) > Q / P (the rest of the
//              budget would be more than the server's share until d); otherwise q and d stay
//   charge(u)  q -= u; each time that nothing is left, d += P and q += Q
// A server that `postpones` continues at once with its later deadline, and so uses time that others leave. A server
// that `waits` is not eligible before d - P, like SCHED_DEADLINE.
//
// Only D = P is supported. For D < P the rule of wake() would restart too often, and a safe rule would need a test by
// density.
#pragma once

#include "orb/sched/analysis/demand.h"
#include "orb/sched/servers/reservation.h"

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

  // Returns the 0-lag time of a server that has left. From max(now, d - q P / Q) on its bandwidth may be promised to
  // others. Before that time the server has used more than its share.
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
