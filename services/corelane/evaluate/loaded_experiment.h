// LoadedExperiment is what `corelane eval` runs: the combinations of a scenario's sweeps, and the dispatchers to
// compare. Threads: values. The functions read files and allocate.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "orb/base/expected.h"
#include "orb/eval/dispatchers.h"
#include "orb/eval/results.h"
#include "orb/eval/run_requests.h"
#include "orb/eval/scenario.h"
#include "orb/eval/scenario_file.h"
#include "services/corelane/evaluate/evaluate.h"

namespace corelane::tool {

// The sets of a combination in the file. `corelane simulate --set` counts the sets of all combinations from 1.
struct SetsInFile {
  std::int64_t first = 1;  // the number of its first set
  std::int64_t count = 0;
};

// The experiment that a file describes. There is at least one combination (eval::Cell) and one dispatcher.
struct LoadedExperiment {
  std::vector<eval::Cell> cells{};
  std::vector<SetsInFile> sets_in_file{};  // of each cell
  std::vector<const eval::Dispatcher*> dispatchers{};
  std::string baseline{};  // the name of one of the dispatchers
  std::vector<eval::Published> published{};
  eval::ResultsOrigin origin{};
  eval::RunDefaults defaults{};
};

// Reads the scenario that the options name, and the files that it depends on. Ignores options.quick. The fault is a
// sentence that names the file, or the setting of the server.
Expected<LoadedExperiment, eval::ScenarioFault> load_experiment(const EvaluateOptions& options);

// Leaves three combinations, four sets of each, and the first dispatcher beside the baseline. Changes the origin of the
// results, because the combinations get other numbers: they do not go on in a file of the whole experiment.
void shorten(LoadedExperiment& experiment);

// Returns the first combination that cannot be run under one of the dispatchers, and why. Nothing if all can.
std::optional<std::string> fault_of_combinations(const LoadedExperiment& experiment, const Evaluation& evaluation);

}  // namespace corelane::tool
