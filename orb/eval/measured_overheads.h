// MeasuredOverheads is what somebody has measured of a platform: a host card, or a table in the format of SchedCAT.
// Scenarios and plans take their overheads from it.
//
// Threads: values. Any thread but real-time ones may call the functions: they use files and allocate.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "orb/base/expected.h"
#include "orb/base/time.h"
#include "orb/sim/overhead_table.h"
#include "orb/sim/overheads.h"

namespace corelane::eval {

inline constexpr std::string_view own_card = "host-card";
inline constexpr Duration longest_overhead = std::chrono::seconds{1};  // of one occurrence

// Which quantile of a cost is charged.
enum class CostCharge : std::uint8_t { p99, max };

// The overheads of one job, for analysis and simulation. A cost that was left out is zero.
struct HostOverheads {
  Duration wake_up{};  // from a timer's instant until a real-time thread runs; the most under any load
  Duration hop{};      // of a hand-over to a sleeping thread of another core; of its own, if there is only one core
  Duration context_switch{};
  Duration migration{};  // of a thread that is moved while it sleeps, at a job's boundary

  friend constexpr bool operator==(const HostOverheads&, const HostOverheads&) = default;
};

// Why there is no card or table, as a sentence that begins with the path and ends with what to do.
struct CardFault {
  std::string text;
};

struct MeasuredOverheads {
  HostOverheads card{};                       // zero if there is a table
  std::optional<sim::OverheadTable> table{};  // by the number of tasks
  std::string note{};                         // what a user should know: the card is that of another host. "": nothing
};

// Reads the card of this host if `name` is own_card. Otherwise reads the file of this name: a card or a table. The
// fault: the file cannot be read, or lacks a cost that each job is charged with.
Expected<MeasuredOverheads, CardFault> read_overheads(const std::string& name, CostCharge charge = CostCharge::p99);

// Returns the constant cost of each kind, for so many tasks. A card has none of the caches.
sim::Overheads costs_of(const MeasuredOverheads& measured, std::size_t tasks);

}  // namespace corelane::eval
