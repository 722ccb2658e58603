// Reservation is the part of a core that a server may use. A server lets work without a contract of its own (aperiodic
// requests, reading on behalf of others) run among admitted tasks. The analysis still knows the most that this work can
// delay them.
//
// All servers of this folder have the same interface (docs/servers.md says which code calls it, and when):
//   wake(now)          the server had no work, and has some now
//   charge(now, used)  its work ran for `used` without a pause until now; call it whenever the work
//                      stops, and before any other call
//   block(now)         the server has no work any more
//   available(now)     returns how long the work may run from now on without a pause; zero: it waits
//   next(now)          while the work waits: returns when to ask again
// If a server lacks one of these functions, it does not need the information.
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

// Returns what is wrong with a reservation, in one sentence, or nothing if it is sound. The sentence uses the names of
// the settings in the section `what`: "io.budget = 5ms is more than io.period = 1ms". It allocates, so do not call it
// on real-time threads.
std::optional<std::string> fault_of(std::string_view what, const Reservation& reservation);

}  // namespace corelane::sched
