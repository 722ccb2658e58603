// What `corelane reserve` and `corelane cores` do, apart from their options.
// Threads: none of their own but the ORB's, which ends before a program is started.
#pragma once

#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "orb/base/expected.h"
#include "orb/base/time.h"
#include "services/corelane/format.h"
#include "services/corelane/reservation_client.h"

namespace corelane::tool {

// As env(1), nice(1) and timeout(1) have them, so that a program's own status is not taken for one.
inline constexpr int not_reserved = 125, not_executable = 126, not_found = 127;

struct ReserveOptions {
  ReservationPlace place{};
  Corelane::Reservation::CoresWanted cores{
      0, {}, Corelane::Reservation::Nearness::anywhere, Corelane::Reservation::SiblingRule::siblings_idle};
  std::optional<Corelane::Reservation::ShareWanted> share{};  // instead of cores
  bool one_thread = false;                                    // the share is for the program's first thread alone
  Corelane::Reservation::ResourceWantedList also{};           // besides: memory, cache, disk
  bool best_effort = false;                                   // of those also where the host promises no more
  bool waits = false;                                         // until there is room,
  std::optional<Duration> longest_wait{};                     // so long at most; nothing: as long as it takes
  bool quiet = false;
  std::string note{};
  std::vector<std::string> command{};  // the program and its arguments
  Format format = Format::table;
};

// "2ms/10ms": so much every so long. Else what is wrong with it, as a sentence.
Expected<Corelane::Reservation::ShareWanted, std::string> parse_share(std::string_view text);

// "256MiB", "2GB", "65536": bytes; with MiB and such powers of 1024. Else what is wrong with it, as a sentence.
Expected<std::uint64_t, std::string> parse_bytes(std::string_view text);

// What `corelane cores` shows.
struct CoresShown {
  Corelane::Reservation::CoreStateList cores{};
  Corelane::Reservation::AccountList accounts{};
  Corelane::Reservation::ResourceStateList resources{};  // empty: of a daemon before there were any
  Corelane::Reservation::ResourceHeldList held{};
  Corelane::Reservation::Status status{};
};

// Reserves for this process, then becomes the program: it has this process's id, and its exit status and signals are
// its own. Returns only when that was not to be: not_reserved, not_executable, not_found.
int reserve(const ReserveOptions& options, std::ostream& err);

struct CoresOptions {
  Format format = Format::table;
  bool details = false;  // also each thing that the host cannot promise
};
std::string text_of(const CoresShown& shown, const CoresOptions& options);

// Who owns which core. 0: shown; 1: no daemon, or it refuses.
int show_cores(const ReservationPlace& place, const CoresOptions& options, std::ostream& out, std::ostream& err);

}  // namespace corelane::tool
