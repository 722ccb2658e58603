// An overheads file says in which scenarios the manager's decisions are timed, and which figures were published for
// them. It is TOML. bench/eval/mc-orb-overheads.toml is one; docs/evaluation-real.md has its fields.
//
// Threads: pure functions. Allocates.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "orb/base/expected.h"
#include "orb/eval/scenario.h"
#include "services/corelane/real_run/overheads/decision_scenarios.h"

namespace corelane::tool {

struct PublishedCost {
  std::int64_t min = 0, mean = 0, max = 0;  // us
};

struct OverheadsFile {
  struct Row {
    const DecisionScenario* scenario;  // never null
    std::optional<PublishedCost> published{};
  };

  std::string name{};
  std::int64_t samples = 1000;
  std::string source{};  // of the published figures
  std::vector<Row> rows{};
};

// Returns whether the text is an overheads file: it has a table [[overhead]].
bool is_overheads_file(std::string_view text);

// A fault names the file, the line and the column.
Expected<OverheadsFile, eval::ScenarioFault> parse_overheads(std::string_view text, const std::string& path);

}  // namespace corelane::tool
