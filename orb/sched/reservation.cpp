#include "orb/sched/reservation.h"

namespace corelane::sched {

std::optional<std::string> fault_of(std::string_view what, const Reservation& r) {
  const auto outside = [&](std::string_view field, const std::string& range, Duration value) {
    return std::string(what) + ": " + std::string(field) + " = " + to_string(value) + " is outside " + range;
  };
  if (r.period <= Duration::zero() || r.period > longest_period) return outside("period T", "0 < T <= 1 h", r.period);
  if (!is_sound(r)) return outside("budget C", "0 < C <= T = " + to_string(r.period), r.budget);
  return std::nullopt;
}

}  // namespace corelane::sched
