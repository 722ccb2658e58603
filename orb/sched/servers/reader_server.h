// ReaderServer is the kind of server that bounds a thread which reads for all callers, above all tasks.
//
//   sporadic   the budget C in each T. What was used returns T after it became usable
//   io         an IoServer (PIBS) of the share C / T. It pauses for T after it has used C. It has no queue of
//              replenishments, so each of its steps costs less. But it may run at the end of one period and at the
//              beginning of the next, which the analysis counts as jitter
//
// Threads: pure functions.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "orb/sched/servers/server.h"
#include "orb/sched/task.h"
#include "orb/sched/ticks.h"

namespace corelane::sched {

enum class ReaderServer : std::uint8_t { sporadic, io };

// A reader's budget has at most this many parts with a server of its own: half of it for each of two kinds of
// connections, and a quarter for one connection, which is within its half.
inline constexpr int reader_halves = 2, reader_quarters = 4;

// Returns the share of an I/O server with this budget, rounded down.
inline Ppm io_share(const Reservation& r) noexcept {
  return static_cast<Ppm>(Wide{r.budget.count()} * whole_core / r.period.count());
}

// Returns whether each part of the budget can have a server of this kind.
inline bool can_serve_reader(ReaderServer kind, const Reservation& all) noexcept {
  return kind == ReaderServer::sporadic || io_share({.budget = all.budget / reader_quarters, .period = all.period}) > 0;
}

// Returns a server for a part of the budget. `chunks` is for a sporadic server.
inline Server reader_server(ReaderServer kind, const Reservation& part,
                            std::size_t chunks = SporadicServer::most_chunks) noexcept {
  if (kind == ReaderServer::io) return IoServer(std::max<Ppm>(io_share(part), 1));
  return SporadicServer(part, Time{}, chunks);
}

// Returns the release jitter with which two servers of half of the budget count, as one load of all of it.
inline Duration reader_jitter(ReaderServer kind, const Reservation& all) noexcept {
  return kind == ReaderServer::io ? all.period - all.budget / reader_halves : Duration{};
}

}  // namespace corelane::sched
