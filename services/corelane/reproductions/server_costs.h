// Measures what servers cost (Danish, Li & West, RTAS 2011).
//
// server-costs: a sporadic server and an I/O server (PIBS) in a flood of short bursts. The cost of driving the server
// is that of this host. The number of preemptions is that of a virtual core, on which a thread of low priority
// computes.
//
// server-counts: how much less the threads of a core compute when 4 to 24 servers share 60 % of it. The difference is
// the cost of timers, budgets and switches.
//
// Threads: see experiment.h. server-counts starts threads.
#pragma once

#include <cstdint>

#include "orb/base/time.h"
#include "orb/sched/servers/server.h"
#include "services/corelane/reproductions/experiment.h"

namespace corelane::tool::reproductions {

// A flood that asks for more than the servers of flood_servers() may use.
inline constexpr Duration flood_burst = std::chrono::microseconds{3}, flood_period = std::chrono::microseconds{10};
inline constexpr sched::IoCaller caller_of_flood{.period = std::chrono::milliseconds{10}, .priority = Priority{2}};

// Returns a server of 20 %.
sched::Server sporadic_flood_server();
sched::Server io_flood_server();

// Returns how often the flood preempts a thread of low priority, or has to leave it the core, in `length`.
std::uint64_t preemptions_in_flood(const sched::Server& server, Duration length);

extern const Experiment server_costs, server_counts;

}  // namespace corelane::tool::reproductions
