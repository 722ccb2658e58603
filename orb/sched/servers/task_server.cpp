#include "orb/sched/servers/task_server.h"

#include <algorithm>

namespace corelane::sched {
namespace {

constexpr Duration least_slack = std::chrono::microseconds{10}, most_slack = std::chrono::microseconds{100};

}  // namespace

Reservation task_server_of(const Contract& c) noexcept {
  if (uses_resources(c) || c.suspension > Duration::zero()) return {};
  const Duration budget = c.budget + std::clamp(c.budget / 10, least_slack, most_slack);
  const Duration period = std::min({c.deadline - c.jitter, c.period, longest_server_period});
  return period < shortest_server_period || budget > period ? Reservation{} : Reservation{budget, period};
}

}  // namespace corelane::sched
