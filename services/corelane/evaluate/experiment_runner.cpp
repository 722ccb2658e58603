#include "services/corelane/evaluate/experiment_runner.h"

#include <algorithm>
#include <chrono>
#include <ostream>
#include <thread>
#include <utility>

#include "orb/base/text/counted.h"
#include "orb/os/clock.h"
#include "services/corelane/evaluate/output_paths.h"

namespace corelane::tool {
namespace {

constexpr std::size_t sets_in_virtual_batch = 256;
constexpr Duration longest_batch = std::chrono::seconds{1};  // so much is lost if the process is killed
constexpr std::int64_t most_growth = 10;                     // of the repetitions, for the sake of precision

}  // namespace

ExperimentRunner::ExperimentRunner(const EvaluateOptions& options, const Evaluation& evaluation,
                                   LoadedExperiment experiment, ResultsFile& file, std::ostream& err)
    : options_(options),
      evaluation_(evaluation),
      experiment_(std::move(experiment)),
      file_(file),
      err_(err),
      runner_(evaluation.run, experiment_.defaults, threads_of(options), longest_batch),
      sets_in_batch_(options.mode == "virtual" ? sets_in_virtual_batch : 1),
      results_(file.earlier()) {
  for (const eval::SetResult& result : results_) known_.insert(key_of(result));
}

std::optional<EarlyEnd> ExperimentRunner::run() {
  std::uint64_t runs = 0;
  for (std::size_t cell = 0; cell < experiment_.cells.size(); ++cell)
    runs += runs_in(missing_in(cell, repetitions_of(cell)));
  if (runs > 0 && !results_.empty())
    say(counted(results_.size(), "result is", "results are") + " there already, " +
        counted(runs, "run is", "runs are") + " missing");
  Progress progress(runs, os::now());
  for (std::size_t cell = 0; cell < experiment_.cells.size(); ++cell)
    if (auto fault = run_cell(cell, progress)) return fault;
  return std::nullopt;
}

eval::ExperimentSummary ExperimentRunner::summary() const {
  eval::Compared compared{.baseline = experiment_.baseline};
  for (const eval::Cell& cell : experiment_.cells) compared.cells.push_back(cell.swept);
  for (const eval::Dispatcher* const dispatcher : experiment_.dispatchers)
    compared.dispatchers.emplace_back(dispatcher->name);
  return eval::summarize(compared, results_);
}

std::size_t ExperimentRunner::threads_of(const EvaluateOptions& options) {
  if (options.mode != "virtual") return 1;
  return options.threads > 0 ? static_cast<std::size_t>(options.threads) : std::thread::hardware_concurrency();
}

// Returns whether the differences are known as exactly as the scenario wants them.
bool ExperimentRunner::is_precise(std::size_t cell) const {
  const eval::Fraction precision = experiment_.cells[cell].scenario.experiment.precision;
  if (precision.millionths == 0) return true;
  const eval::ExperimentSummary sums = summary();
  return std::ranges::all_of(sums.cells[cell].differences, [&](const eval::Difference& difference) {
    return (difference.high - difference.low) / 2 * 1e6 <= static_cast<double>(precision.millionths);
  });
}

// Runs the sets of a cell, and more of them if the differences are not precise.
std::optional<EarlyEnd> ExperimentRunner::run_cell(std::size_t cell, Progress& progress) {
  const std::int64_t repetitions = repetitions_of(cell);
  if (auto fault = run_sets(cell, missing_in(cell, repetitions), progress)) return fault;
  for (std::int64_t sets = repetitions; sets < most_growth * repetitions && !evaluation_.is_to_stop();) {
    if (is_precise(cell)) break;
    sets += std::max<std::int64_t>(repetitions / 4, 1);
    const std::vector<OpenRun> more = missing_in(cell, sets);
    progress.expect(runs_in(more));
    if (auto fault = run_sets(cell, more, progress)) return fault;
  }
  return std::nullopt;
}

std::optional<EarlyEnd> ExperimentRunner::run_sets(std::size_t cell, std::span<const OpenRun> sets,
                                                   Progress& progress) {
  while (!sets.empty() && !evaluation_.is_to_stop()) {
    const std::span<const OpenRun> batch = sets.first(std::min(sets.size(), sets_in_batch_));
    if (auto fault = run_batch(cell, {batch.begin(), batch.end()}, progress)) return fault;
    const auto done = std::ranges::find_if(batch, [&](const OpenRun& set) { return !is_done(cell, set); });
    if (done == batch.begin()) break;  // the runs were stopped
    sets = sets.subspan(static_cast<std::size_t>(done - batch.begin()));
  }
  return std::nullopt;
}

std::uint64_t ExperimentRunner::runs_in(const std::vector<OpenRun>& sets) {
  std::uint64_t runs = 0;
  for (const OpenRun& set : sets) runs += set.dispatchers.size();
  return runs;
}

bool ExperimentRunner::is_done(std::size_t cell, const OpenRun& set) const {
  return std::ranges::all_of(set.dispatchers, [&](const eval::Dispatcher* dispatcher) {
    return known_.contains({cell, set.set, std::string(dispatcher->name)});
  });
}

// Returns what is missing of the first `sets` sets.
std::vector<OpenRun> ExperimentRunner::missing_in(std::size_t cell, std::int64_t sets) const {
  std::vector<OpenRun> open;
  for (std::int64_t set = 0; set < sets; ++set) {
    OpenRun missing{.set = set};
    for (const eval::Dispatcher* const dispatcher : experiment_.dispatchers)
      if (!known_.contains({cell, set, std::string(dispatcher->name)})) missing.dispatchers.push_back(dispatcher);
    if (!missing.dispatchers.empty()) open.push_back(std::move(missing));
  }
  return open;
}

std::optional<EarlyEnd> ExperimentRunner::run_batch(std::size_t cell, const std::vector<OpenRun>& batch,
                                                    Progress& progress) {
  const eval::Cell& swept = experiment_.cells[cell];
  auto results = runner_.run(swept.scenario, cell, batch, evaluation_.is_to_stop);
  if (!results) return EarlyEnd{options_.file + ": " + results.error(), wrong_experiment};
  std::string lines;
  for (const eval::SetResult& result : *results) lines += eval::results_line(experiment_.origin, swept.swept, result);
  if (!file_.append(lines))
    return EarlyEnd{output_of(options_) +
                        " takes no more results; is the disk full? Make room, and the same command "
                        "goes on from there",
                    part_of_experiment};
  results_.insert(results_.end(), results->begin(), results->end());
  for (const eval::SetResult& result : *results) known_.insert(key_of(result));
  say(progress.after(results->size(), os::now()));
  return std::nullopt;
}

void ExperimentRunner::say(const std::string& text) const {
  if (evaluation_.shows_progress) err_ << "corelane eval: " << text << std::endl;
}

}  // namespace corelane::tool
