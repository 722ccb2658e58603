// `corelane reserve` and `corelane cores`, without their options.
// Threads: none of their own but the ORB's, which ends before a program is started.
//
// The folder services/corelane/reservation asks the daemon corelane-reserved for cores.
#pragma once

#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "orb/base/expected.h"
#include "orb/base/time.h"
#include "services/corelane/output/format.h"
#include "services/corelane/reservation/reservation_client.h"

namespace corelane::tool {

// The exit statuses of env(1), nice(1) and timeout(1), because a program hardly uses them itself.
inline constexpr int not_reserved = 125, not_executable = 126, not_found = 127;

struct ReserveOptions {
  ReservationPlace place{};
  Corelane::Reservation::CoresWanted cores{
      0, {}, Corelane::Reservation::Nearness::anywhere, Corelane::Reservation::SiblingRule::siblings_idle};
  std::optional<Corelane::Reservation::ShareWanted> share{};  // instead of cores
  bool one_thread = false;                                    // the share is only for the program's first thread
  Corelane::Reservation::ResourceWantedList also{};           // in addition: memory, cache, disk
  bool best_effort = false;                                   // take those also if the host cannot promise them
  bool waits = false;                                         // wait until there is room
  std::optional<Duration> longest_wait{};                     // the longest wait; nothing: no limit
  bool quiet = false;
  std::string note{};
  std::vector<std::string> command{};  // the program and its arguments
  Format format = Format::table;
};

// Parses "2ms/10ms": budget per period. On failure returns what is wrong, as a sentence.
Expected<Corelane::Reservation::ShareWanted, std::string> parse_share(std::string_view text);

// Parses "256MiB", "2GB", "65536" into bytes; MiB and the like are powers of 1024. On failure returns what is wrong, as
// a sentence.
Expected<std::uint64_t, std::string> parse_bytes(std::string_view text);

// What `corelane cores` shows.
struct CoresShown {
  Corelane::Reservation::CoreStateList cores{};
  Corelane::Reservation::AccountList accounts{};
  Corelane::Reservation::ResourceStateList resources{};  // empty: the daemon is too old to have any
  Corelane::Reservation::ResourceHeldList held{};
  Corelane::Reservation::Status status{};
};

// Reserves for this process, then becomes the program, which keeps the process id. Exit status and signals are the
// program's. Returns only on failure: not_reserved, not_executable, not_found.
int reserve(const ReserveOptions& options, std::ostream& err);

struct CoresOptions {
  Format format = Format::table;
  bool details = false;  // with each thing that the host cannot promise
};
std::string text_of(const CoresShown& shown, const CoresOptions& options);

// Shows which process owns which core. Returns 0 if shown; 1 if there is no daemon, or it refuses.
int show_cores(const ReservationPlace& place, const CoresOptions& options, std::ostream& out, std::ostream& err);

}  // namespace corelane::tool
