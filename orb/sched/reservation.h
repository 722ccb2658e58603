// Reservation: what a server may use of its core. A server lets work without a contract of its own (aperiodic requests,
// reading on behalf of others) run among admitted tasks while the analysis still knows the worst that it does to them.
//
// All servers of this folder are driven alike (docs/servers.md says by whom, and when):
//   wake(now)          it had no work, and has some now
//   charge(now, used)  it ran for `used` in one piece until now; said whenever it stops, and before any other question
//   block(now)         it has no work any more
//   available(now)     how long it may run from now on without a pause; zero: it waits
//   next(now)          while it waits: when to ask again
// A server that lacks one of them does not need to know.
//
// Threads: values; each server is owned by one thread at a time. No clock, no thread, no allocation.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "orb/base/contract.h"
#include "orb/base/time.h"

namespace corelane::sched {

struct Reservation {
  Duration budget{};  // C: 0 < C <= T
  Duration period{};  // T: 0 < T <= 1 h

  friend constexpr bool operator==(const Reservation&, const Reservation&) = default;
};

constexpr bool is_sound(const Reservation& r) noexcept {
  return r.budget > Duration::zero() && r.budget <= r.period && r.period <= longest_period;
}

// What is wrong with it in one sentence, by the names of its settings in the section `what`: "io.budget = 5ms is more
// than io.period = 1ms". Nothing when it is sound. Not for real-time threads (allocates).
std::optional<std::string> fault_of(std::string_view what, const Reservation& reservation);

}  // namespace corelane::sched
