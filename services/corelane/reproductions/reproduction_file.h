// A reproduction file says which published experiments to repeat, and which values were published for them. It is
// TOML. bench/eval/quest.toml is one; docs/reproductions.md has its fields.
//
// Threads: pure functions. Allocates.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "orb/base/expected.h"
#include "orb/base/time.h"
#include "orb/eval/scenario.h"
#include "services/corelane/reproductions/experiment.h"

namespace corelane::tool::reproductions {

struct ReproductionFile {
  struct Entry {
    const Experiment* experiment;  // never null
    Duration length{};             // of each run; zero if the experiment has a fixed length
    // A value for each row and column of the experiment; "" if none was published.
    ExperimentValues published{};
  };

  std::string name{};
  std::string source{};  // of the published values
  std::vector<Entry> entries{};
};

// Returns whether the text is a reproduction file: it has a table [[reproduction]].
bool is_reproduction_file(std::string_view text);

// A fault names the file, the line and the column.
Expected<ReproductionFile, eval::ScenarioFault> parse_reproductions(std::string_view text, const std::string& path);

}  // namespace corelane::tool::reproductions
