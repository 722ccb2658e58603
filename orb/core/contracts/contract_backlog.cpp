#include "orb/core/contracts/contract_backlog.h"

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "orb/sched/admission/placement.h"
#include "orb/sched/schedulers/core_scheduler.h"

namespace corelane::core {

// The values that the text advises work with the contract's jitter, and with the default jitter, a tenth of the period.
std::optional<std::string> backlog_fault_of(const Contract& c) {
  if (sched::backlog_fits(c)) return std::nullopt;
  constexpr auto most = static_cast<std::int64_t>(sched::max_waiting);
  const auto up = [](Duration a, std::int64_t b) { return (a + Duration{b - 1}) / b; };
  const Duration span = c.deadline + c.jitter;
  const Duration latest = std::min(most * c.period - c.jitter, c.period * (10 * most - 1) / 10);
  const auto periods = up(span, c.period.count()).count();
  const auto shortest_period =
      std::chrono::ceil<std::chrono::microseconds>(std::max(up(span, most), up(10 * c.deadline, 10 * most - 1)));
  return "deadline D = " + to_string(c.deadline) + " and jitter J = " + to_string(c.jitter) + " span " +
         std::to_string(periods) + " periods of T = " + to_string(c.period) + ", and at most " + std::to_string(most) +
         " jobs of a task may wait: use T >= " + to_string(shortest_period) +
         (latest >= c.budget + c.suspension && latest > c.jitter ? " or D <= " + to_string(latest) : "");
}

}  // namespace corelane::core
