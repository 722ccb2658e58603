// Computes how far the clock of one core is ahead of another's, from messages that two threads have bounced.
// Source: Zhang, Gill, Lu, "Real-Time Performance and Middleware for Multiprocessor and Multicore Linux Platforms",
// RTCSA 2009.
// Threads: pure functions. Allocates.
#pragma once

#include <vector>

#include "orb/base/ids.h"
#include "orb/base/time.h"
#include "orb/eval/host_card/host_card.h"

namespace corelane::tool {

// A message and its answer.
struct ClockExchange {
  Time sent;      // x0, by the clock of the first core
  Time answered;  // y1, by the clock of the second core
  Time received;  // z0, by the clock of the first core
};

// Returns d0 = 2*y1 - x0 - z0. It is twice the offset of the second clock, if both ways take equally long.
constexpr Duration d0_of(const ClockExchange& exchange) noexcept {
  return (exchange.answered - exchange.sent) - (exchange.received - exchange.answered);
}

// Returns the median over the exchanges. Without exchanges, returns an offset with count 0.
eval::ClockOffset clock_offset_of(CoreId from, CoreId to, const std::vector<ClockExchange>& exchanges);

// Returns half of each round trip: the time that a message needs to a thread that polls.
std::vector<Duration> polling_hops_of(const std::vector<ClockExchange>& exchanges);

}  // namespace corelane::tool
