// What is measured of a link: round trips, then a stream one way, between two processes that are each bound to a core.
//
// Threads: the benchmark's only one.
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
  std::size_t warm_up = 0;   // round trips before those that count
  std::size_t calls = 0;     // round trips that count
  std::size_t streamed = 0;  // messages one way, behind each other
};

struct Measured {
  bench_support::Samples round_trips;  // ns
  std::uint64_t stream = 0;            // ns from the first message's sending until the answer to the last is here
};

// This process from here on. Gives up where it may not.
void bind_to(int core);

// The other process is a child that ends with the call.
Measured exchange(const Link& link, const Plan& plan, Cores cores);

// The same between two runs of the peer program bench/channels/peers/iceoryx2. Throws std::runtime_error saying what
// went wrong there.
Measured exchange_iceoryx2(const std::string& program, bool by_event, bool in_place, const Plan& plan, Cores cores);

// Processor time in seconds that an end takes in so many seconds in which nobody writes to it.
double idle_cost(const Link& link, int seconds);

// One core copies so often: bytes per second.
double memcpy_rate(std::size_t size);

}  // namespace channels
