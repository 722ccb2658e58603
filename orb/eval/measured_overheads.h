// RunOverheads is what the platform costs in a plan or a run, beside the execution of jobs. MeasuredOverheads is what
// somebody has measured of a platform: a host card, or a table in the format of SchedCAT. Scenarios and plans take
// their overheads from it.
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

struct RunOverheads {
  sim::Overheads costs{};  // constants; zero: left out
  Duration blocking{};     // how late a thread may wake. The analysis charges it; it is not simulated
  bool charged = true;     // whether the analysis charges anything

  // Returns the costs that the analysis charges for each job (sim::OverheadInfo), in whole microseconds, rounded up.
  Duration per_job() const;
  // Returns the costs that the analysis adds to each budget.
  Duration charge_per_job() const { return charged ? per_job() : Duration::zero(); }

  friend bool operator==(const RunOverheads&, const RunOverheads&) = default;
};

// Why there is no card or table, as a sentence that begins with the path and ends with what to do.
struct CardFault {
  std::string text;
};

struct MeasuredOverheads {
  RunOverheads card{};                        // costs nothing if there is a table. A card has no cost of caches
  std::optional<sim::OverheadTable> table{};  // by the number of tasks
  std::string note{};                         // what a user should know: the card is that of another host. "": nothing
};

// Reads the card of this host if `name` is own_card. Otherwise reads the file of this name: a card or a table. The
// fault: the file cannot be read, or lacks a cost that each job is charged with.
Expected<MeasuredOverheads, CardFault> read_overheads(const std::string& name, CostCharge charge = CostCharge::p99);

// Returns the overheads of a set of so many tasks. The blocking is in whole microseconds, rounded up.
RunOverheads overheads_of(const MeasuredOverheads& measured, std::size_t tasks);

}  // namespace corelane::eval
