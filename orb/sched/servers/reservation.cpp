#include "orb/sched/servers/reservation.h"

namespace corelane::sched {

std::optional<std::string> fault_of(std::string_view what, const Reservation& r) {
  const std::string period = std::string(what) + ".period = " + to_string(r.period);
  const std::string budget = std::string(what) + ".budget = " + to_string(r.budget);
  if (r.period <= Duration::zero()) return period + " is no more than 0";
  if (r.period > longest_period) return period + " is more than 1 h";
  if (r.budget <= Duration::zero()) return budget + " is no more than 0";
  if (r.budget > r.period) return budget + " is more than " + period;
  return std::nullopt;
}

}  // namespace corelane::sched
