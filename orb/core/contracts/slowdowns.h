// Reads the tables [[slowdown]] of a TOML file. `corelane measure` writes such files, servers charge budgets by them
// (dispatch.slowdowns), and a scenario may have such tables, too.
//
// Threads: any except real-time ones: it allocates.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "orb/base/expected.h"
#include "orb/base/fraction.h"
#include "orb/base/time.h"
#include "orb/core/settings_fault.h"
#include "orb/core/text/toml_text.h"
#include "orb/dispatch/worst_slowdowns.h"

namespace corelane::core {

inline constexpr Fraction most_slowdown{1000 * unity.millionths};  // the largest factor that a file may have

// How much longer a task executes while another one runs on another core of its last-level cache. It is an estimate,
// measured or assumed, and never a bound.
struct PairSlowdown {
  std::string operation{};  // a label, or one without the number that `count` adds
  std::string beside{};     // the same, of the other task; or a command
  Fraction factor = unity;  // below 1 it counts as 1
  // What `corelane measure` adds. Admission and runs do not use it.
  std::int64_t samples = 0;               // of the shorter series
  std::optional<Fraction> low{}, high{};  // the 95 % confidence interval of the factor
  std::optional<Duration> alone{}, together{};
  std::optional<Fraction> accesses{}, misses{}, stalls{};  // per 1,000 instructions, see os::CacheMetrics
  FilePlace at{};                                          // of the table
};

// Returns the tables [[slowdown]] of the text, whatever else it has. Nothing compares their names with tasks. Faults
// name the file, the line and the column. `path` is for them.
Expected<std::vector<PairSlowdown>, SettingsFault> parse_slowdowns(std::string_view text, const std::string& path);

// Returns by which factor each operation takes longer at most.
std::shared_ptr<const dispatch::WorstSlowdowns> worst_of(std::span<const PairSlowdown> pairs);

}  // namespace corelane::core
