// MeasuredOverheads is what somebody has measured of a platform: a host card, or a table in the format of SchedCAT.
// Scenarios and plans take their overheads from it.
//
// Threads: values. Any thread but real-time ones may call the functions: they use files and allocate.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "orb/base/expected.h"
#include "orb/base/time.h"
#include "orb/eval/host_card.h"
#include "orb/sim/overhead_table.h"
#include "orb/sim/overheads.h"

namespace corelane::eval {

inline constexpr std::string_view own_card = "host-card";
inline constexpr Duration longest_overhead = std::chrono::seconds{1};  // of one occurrence

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
