// Measures what it costs to hand over from one thread to another.
// Threads: each function starts its own and waits for them.
#pragma once

#include <vector>

#include "orb/base/ids.h"
#include "services/corelane/host_card/clock_exchange.h"
#include "services/corelane/host_card/together.h"

namespace corelane::tool {

// Two threads, each on its core, wake each other in turn and sleep. A sample is the time from the wake-up call until
// the other thread runs. The cores may be the same one.
CostSamples hop(CoreId one, CoreId other, int hops);

// Two threads on different cores bounce messages; both poll.
Expected<std::vector<ClockExchange>, NotMeasured> exchange_clocks(CoreId one, CoreId other, int messages);

// Two threads of one core yield to each other. A sample is the time from the system call of one thread until the other
// one runs. Yields after which the same thread ran on are left out.
CostSamples switch_context(CoreId core, int yields);

}  // namespace corelane::tool
