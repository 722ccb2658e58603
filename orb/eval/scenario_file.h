// Reads scenario files. They are TOML; docs/scenario.md has their fields. Files of other programs are read, too; see
// scenario_formats.h.
// Threads: any but real-time ones: files and allocation.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "orb/base/expected.h"
#include "orb/eval/scenario.h"
#include "orb/eval/scenario_formats.h"

namespace corelane::eval {

// The scenario for one combination of the swept values.
struct Cell {
  std::vector<std::pair<std::string, std::string>> swept;  // fields with their values, as texts
  Scenario scenario;
};

// Returns every combination, at least one. The last sweep of the file changes fastest. Every combination is checked. A
// fault names the file, the line and the column. A file of another program has one combination; what a scenario cannot
// express of it is in Scenario::notes. What overheads.from names is read, too.
Expected<std::vector<Cell>, ScenarioFault> parse_scenario(std::string_view text, const std::string& path,
                                                          const FormatOptions& options = {});

// Returns whether the text is TOML with tasks, listed or drawn. Such a file is to be a scenario.
bool has_tasks(std::string_view text);

// Returns whether the text is a contracts file (orb/core/contracts/contracts_file.h): its tables are named by
// repository ids.
bool is_contracts_file(std::string_view text);

}  // namespace corelane::eval
