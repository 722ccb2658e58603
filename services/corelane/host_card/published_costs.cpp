#include "services/corelane/host_card/published_costs.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace corelane::tool {
namespace {

using namespace std::chrono_literals;

constexpr PublishedRange published_ranges[] = {
    {eval::HostCost::migrate_itself, 16us, 45us},
    {eval::HostCost::migrate_running, 18us, 36us},
    {eval::HostCost::migrate_sleeping, 4us, 10us},
};

// tasks, percent, watched, calls, min, mean, max, total
constexpr eval::BalancerCost published_balancers[] = {
    {10, 60, 5min, 211, 405ns, 983ns, 1899ns, 207us},
    {30, 60, 5min, 210, 566ns, 1178ns, 2120ns, 247us},
    {10, 100, 5min, 588, 536ns, 854ns, 1463ns, 509us},
    {30, 100, 5min, 596, 671ns, 1124ns, 2069ns, 670us},
};

}  // namespace

std::optional<PublishedRange> published_range_of(eval::HostCost cost) noexcept {
  const auto* const found = std::ranges::find(published_ranges, cost, &PublishedRange::cost);
  return found == std::end(published_ranges) ? std::nullopt : std::optional(*found);
}

std::span<const eval::BalancerCost> published_balancing() noexcept { return published_balancers; }

}  // namespace corelane::tool
