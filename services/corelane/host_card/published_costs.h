// The figures of published systems that a host card is compared with. They live here alone.
// Threads: constants.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>

#include "orb/base/time.h"
#include "orb/eval/host_card/host_card.h"

namespace corelane::tool {

// Zhang, Gill, Lu, "Real-Time Performance and Middleware for Multiprocessor and Multicore Linux Platforms", RTCSA 2009,
// on Linux 2.6.17.
inline constexpr const char* published_costs_source = "Zhang, Gill & Lu, RTCSA 2009";
inline constexpr Duration published_clock_offset{1300};  // the average, from d0

struct PublishedRange {
  eval::HostCost cost;
  Duration least, most;
};
// Returns the published range of a cost, if there is one.
std::optional<PublishedRange> published_range_of(eval::HostCost cost) noexcept;

// The load balancer with all tasks bound to one core, over five minutes. `calls`: imbalances.
std::span<const eval::BalancerCost> published_balancing() noexcept;

// Goel, Abeni, Krasic, Snow, Walpole, "Supporting Time-Sensitive Applications on a Commodity OS", OSDI 2002: timer
// latency of standard Linux, with its timer of 10 ms. With firm timers it is a few microseconds.
inline constexpr const char* published_timer_source = "Goel et al., OSDI 2002";
inline constexpr Duration published_timer_latency = std::chrono::milliseconds{10};

}  // namespace corelane::tool
