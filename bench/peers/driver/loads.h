// What a client does with a peer, and how it is timed.
//
//   calls       one thread makes `calls` calls of `operation` after `warm_up` others. Without a rate each call follows
//               the last one (closed loop). With a rate, `pace` says how the thread waits until a call is due, and from
//               when the call is timed:
//                 sleep  it sleeps; from the call's start
//                 due    it sleeps; from when the call was due, so that a stall counts for every call that it delayed
//                 spin   it spins; from when the call was due
//   throughput  `threads` threads call ping for `duration`, after a third of a second to warm up.
//   oneways     one thread sends pushes of `size` octets for `duration`; then the server is asked how many came, until
//               all have come or no more come. A push that fails is counted and not sent again.
//   first       the time from `started` until the reply of the first ping.
//   hold        opens `threads` connections, calls ping once over each, says READY and holds them until a line comes.
//
// Every load reports one record: its counts and times, and the CPU time that client and server used meanwhile.
#pragma once

#include "bench/peers/driver/caller.h"
#include "bench/peers/driver/options.h"
#include "bench/peers/driver/summary.h"

namespace peers {

// Applies the load of the options. Throws what a call throws, and std::invalid_argument for an unknown load.
Record apply_load(const ClientOptions& options, Peer& peer);

// The same for a client's main(): prints the record and returns the exit status.
int run_client(const ClientOptions& options, Peer& peer);

}  // namespace peers
