// Measures a link between two processes that are each bound to a core: round trips, then a stream one way.
//
// Threads: the benchmark's only thread.
#pragma once

#include <cstddef>
#include <string>

#include "bench/channels/links.h"
#include "bench/support/summary.h"

namespace channels {

struct Cores {
  int near = 2, far = 3;
};

struct Plan {
  std::size_t size = 0;      // of a message
  std::size_t warm_up = 0;   // round trips before the measured ones
  std::size_t calls = 0;     // measured round trips
  std::size_t streamed = 0;  // messages one way, without answers in between
};

struct Measured {
  bench_support::Samples round_trips;  // ns
  std::uint64_t stream = 0;            // ns from sending the first message until the answer to the last one arrives
};

// Binds this process to the core from now on. Ends the program if it may not.
void bind_to(int core);

// Measures a link. The other process is a child that ends with this call.
Measured exchange(const Link& link, const Plan& plan, Cores cores);

// Measures between two runs of the peer program bench/channels/peers/iceoryx2. Raises std::runtime_error with what went
// wrong there.
Measured exchange_iceoryx2(const std::string& program, bool by_event, bool in_place, const Plan& plan, Cores cores);

// Returns the processor time, in seconds, that an end uses during `seconds` in which nobody writes to it.
double idle_cost(const Link& link, int seconds);

// Returns the bytes per second that one core copies.
double memcpy_rate(std::size_t size);

}  // namespace channels
