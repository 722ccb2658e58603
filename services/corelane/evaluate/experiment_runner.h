// ExperimentRunner runs the sets of an experiment that the file of results lacks, and appends their results to it.
// Threads: owned by one thread; it starts threads of its own (set_runner.h) and waits for them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "orb/eval/results.h"
#include "orb/eval/statistics/comparison.h"
#include "services/corelane/evaluate/evaluate.h"
#include "services/corelane/evaluate/loaded_experiment.h"
#include "services/corelane/evaluate/progress.h"
#include "services/corelane/evaluate/results_file.h"
#include "services/corelane/evaluate/set_runner.h"

namespace corelane::tool {

// The exit statuses of `corelane eval`; see evaluate().
inline constexpr int whole_experiment = 0, part_of_experiment = 1, wrong_experiment = 2;

// Why an experiment ended early, and the exit status.
struct EarlyEnd {
  std::string text;
  int status;
};

class ExperimentRunner {
 public:
  // All but `experiment` must outlive it. `err` gets the progress.
  ExperimentRunner(const EvaluateOptions& options, const Evaluation& evaluation, LoadedExperiment experiment,
                   ResultsFile& file, std::ostream& err);

  // Runs what is missing, cell by cell, until all is done or evaluation.is_to_stop. The fault is that of a set, or of
  // the file.
  std::optional<EarlyEnd> run();

  const LoadedExperiment& experiment() const { return experiment_; }
  // Returns the comparison of all results, those that the file had before included.
  eval::ExperimentSummary summary() const;

 private:
  using Key = std::tuple<std::size_t, std::int64_t, std::string>;  // the cell, the set and the dispatcher's name

  static Key key_of(const eval::SetResult& result) { return {result.cell, result.set, result.dispatcher}; }
  static std::size_t threads_of(const EvaluateOptions& options);
  static std::uint64_t runs_in(const std::vector<OpenRun>& sets);

  std::int64_t repetitions_of(std::size_t cell) const { return experiment_.cells[cell].scenario.repetitions; }
  bool is_precise(std::size_t cell) const;
  bool is_done(std::size_t cell, const OpenRun& set) const;
  std::vector<OpenRun> missing_in(std::size_t cell, std::int64_t sets) const;
  std::optional<EarlyEnd> run_cell(std::size_t cell, Progress& progress);
  std::optional<EarlyEnd> run_sets(std::size_t cell, std::span<const OpenRun> sets, Progress& progress);
  std::optional<EarlyEnd> run_batch(std::size_t cell, const std::vector<OpenRun>& batch, Progress& progress);
  void say(const std::string& text) const;

  const EvaluateOptions& options_;
  const Evaluation& evaluation_;
  const LoadedExperiment experiment_;
  ResultsFile& file_;
  std::ostream& err_;
  const SetRunner runner_;
  const std::size_t sets_in_batch_;
  std::vector<eval::SetResult> results_;
  std::set<Key> known_{};  // of results_
};

}  // namespace corelane::tool
