#include "services/corelane/host_card/clock_exchange.h"

#include <algorithm>
#include <cstdint>

namespace corelane::tool {

eval::ClockOffset clock_offset_of(CoreId from, CoreId to, const std::vector<ClockExchange>& exchanges) {
  if (exchanges.empty()) return {.from = from, .to = to};
  std::vector<Duration> all_d0;
  Duration round_trip = Duration::max();
  for (const ClockExchange& exchange : exchanges) {
    all_d0.push_back(d0_of(exchange));
    round_trip = std::min(round_trip, exchange.received - exchange.sent);
  }
  std::ranges::sort(all_d0);
  return {.from = from,
          .to = to,
          .d0 = eval::quantile(all_d0, 500),
          .round_trip = round_trip,
          .count = static_cast<std::int64_t>(exchanges.size())};
}

std::vector<Duration> polling_hops_of(const std::vector<ClockExchange>& exchanges) {
  std::vector<Duration> hops;
  hops.reserve(exchanges.size());
  for (const ClockExchange& exchange : exchanges) hops.push_back((exchange.received - exchange.sent) / 2);
  return hops;
}

}  // namespace corelane::tool
