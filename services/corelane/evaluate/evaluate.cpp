#include "services/corelane/evaluate/evaluate.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <limits>
#include <ostream>
#include <set>
#include <span>
#include <system_error>
#include <thread>
#include <tuple>
#include <utility>

#include "orb/base/contract.h"
#include "orb/base/text/counted.h"
#include "orb/core/config/settings_of.h"
#include "orb/core/settings.h"
#include "orb/core/settings_fault.h"
#include "orb/core/text/toml_text.h"
#include "orb/eval/policy_names.h"
#include "orb/eval/report/comparison_tables.h"
#include "orb/eval/report/report.h"
#include "orb/eval/report/table.h"
#include "orb/eval/run_requests.h"
#include "orb/eval/scenario_file.h"
#include "orb/eval/scenario_formats.h"
#include "orb/eval/statistics/comparison.h"
#include "orb/os/clock.h"
#include "orb/os/files/small_file.h"
#include "services/corelane/evaluate/origin.h"
#include "services/corelane/evaluate/output_paths.h"
#include "services/corelane/evaluate/pdf_figures.h"
#include "services/corelane/evaluate/progress.h"
#include "services/corelane/evaluate/results_file.h"
#include "services/corelane/output/text.h"
#include "services/corelane/plan/host_cores.h"

namespace corelane::tool {
namespace {

constexpr int whole_experiment = 0, part_of_experiment = 1, wrong_experiment = 2;
constexpr std::size_t sets_in_virtual_batch = 256;
constexpr Duration longest_batch = std::chrono::seconds{1};  // so much is lost if the process is killed
constexpr std::int64_t quick_sets = 4;
constexpr std::int64_t most_growth = 10;  // of the repetitions, for the sake of precision
constexpr const char* quick_suffix = "-quick";

// The sets of a combination in the file, as `corelane simulate --set` counts them.
struct SetsInFile {
  std::int64_t first = 1, count = 0;
};

// The experiment that a file describes.
struct OpenExperiment {
  std::vector<eval::Cell> cells{};
  std::vector<SetsInFile> sets_in_file{};  // of each cell
  std::vector<const eval::Dispatcher*> dispatchers{};
  std::string baseline{};
  std::vector<eval::Published> published{};
  eval::ResultsOrigin origin{};
  eval::RunDefaults defaults{};
};

using ExperimentFault = eval::ScenarioFault;

// Leaves three combinations, four sets of each, and the first dispatcher beside the baseline. The results go into
// another file, because the combinations get other numbers.
void shorten(OpenExperiment& experiment) {
  const std::size_t cells = experiment.cells.size();
  std::set<std::size_t> kept_cells{0, cells / 2, cells - 1};
  std::vector<eval::Cell> kept;
  std::vector<SetsInFile> kept_sets;
  for (const std::size_t cell : kept_cells) {
    kept.push_back(std::move(experiment.cells[cell]));
    kept_sets.push_back(experiment.sets_in_file[cell]);
  }
  experiment.cells = std::move(kept);
  experiment.sets_in_file = std::move(kept_sets);
  for (eval::Published& published : experiment.published) {
    std::vector<std::string> values;
    for (const std::size_t cell : kept_cells) values.push_back(published.values[cell % published.values.size()]);
    published.values = std::move(values);
  }
  for (eval::Cell& cell : experiment.cells) {
    cell.scenario.repetitions = std::min(cell.scenario.repetitions, quick_sets);
    cell.scenario.experiment.precision = {};
  }
  const auto other = std::ranges::find_if(experiment.dispatchers, [&](const eval::Dispatcher* dispatcher) {
    return dispatcher->name != experiment.baseline;
  });
  const eval::Dispatcher* const compared = other == experiment.dispatchers.end() ? nullptr : *other;
  std::erase_if(experiment.dispatchers, [&](const eval::Dispatcher* dispatcher) {
    return dispatcher != compared && dispatcher->name != experiment.baseline;
  });
  experiment.origin.scenario += quick_suffix;
}

std::optional<ExperimentFault> fault_of_experiment(const OpenExperiment& experiment, const std::string& path) {
  if (std::ranges::find(experiment.dispatchers, experiment.baseline, &eval::Dispatcher::name) ==
      experiment.dispatchers.end())
    return ExperimentFault{path + ": experiment.baseline = \"" + experiment.baseline +
                           "\" is none of experiment.dispatchers; add it there, or name another one"};
  for (const eval::Published& published : experiment.published)
    if (experiment.cells.size() % published.values.size() != 0 ||
        published.values.size() != experiment.published.front().values.size())
      return ExperimentFault{path + ": published.values of " + published.dispatcher + " has " +
                             counted(published.values.size(), "value") + ", but there are " +
                             counted(experiment.cells.size(), "combination") +
                             " of the sweeps; give one for each, or for each of the last sweeps"};
  return std::nullopt;
}

// Returns the name of a file without its folder and its ending.
std::string stem_of(const std::string& path) { return std::filesystem::path(path).stem().string(); }

// Returns "with policy.test = x, generate.tasks = 4: ", or "" without sweeps.
std::string name_of_combination(const eval::Cell& cell) {
  std::string name;
  for (const auto& [field, value] : cell.swept) name += (name.empty() ? "with " : ", ") + field + " = " + value;
  return name.empty() ? name : name + ": ";
}

// Returns why a combination cannot be run under one of the dispatchers; "" if it can.
std::string fault_of_combination(const OpenExperiment& experiment, const Evaluation& evaluation,
                                 const eval::Cell& cell) {
  auto request = eval::run_request(cell.scenario, 0, experiment.defaults);
  if (!request) return request.error().text;
  if (!evaluation.fault_of) return {};
  for (const eval::Dispatcher* const dispatcher : experiment.dispatchers) {
    request->dispatcher = dispatcher;
    if (std::string fault = evaluation.fault_of(*request); !fault.empty()) return fault;
  }
  return {};
}

// Returns the first combination that cannot be run, and why.
std::optional<std::string> fault_of_combinations(const OpenExperiment& experiment, const Evaluation& evaluation) {
  for (const eval::Cell& cell : experiment.cells)
    if (const std::string fault = fault_of_combination(experiment, evaluation, cell); !fault.empty())
      return name_of_combination(cell) + fault;
  return std::nullopt;
}

// Returns what the files have that the combinations take their overheads from. It belongs to the text of the scenario.
std::string measured_in(const std::vector<eval::Cell>& cells) {
  std::string text;
  for (const eval::Cell& cell : cells)
    if (cell.scenario.overheads.measured) text += eval::text_of(eval::run_overheads(cell.scenario, 1)) + "\n";
  return text;
}

// Returns the text of the file of slowdowns that the setting names; "" if no combination uses it. It belongs to the
// text of the scenario.
Expected<std::string, core::SettingsFault> slowdowns_in(const core::Settings& settings,
                                                        const std::vector<eval::Cell>& cells) {
  const auto uses_setting = [](const eval::Cell& cell) { return !cell.scenario.policy.charge_slowdowns; };
  const std::string& path = settings.executive.slowdowns_file;
  if (path.empty() || std::ranges::none_of(cells, uses_setting)) return std::string();
  return core::read_toml("file of slowdowns", path);
}

std::vector<SetsInFile> sets_in_file(const std::vector<eval::Cell>& cells) {
  std::vector<SetsInFile> sets;
  std::int64_t first = 1;
  for (const eval::Cell& cell : cells) {
    sets.push_back({.first = first, .count = cell.scenario.repetitions});
    first += cell.scenario.repetitions;
  }
  return sets;
}

Expected<OpenExperiment, ExperimentFault> open_experiment(const EvaluateOptions& options) {
  const auto text = eval::read_scenario_file(options.file);
  if (!text) return ExperimentFault{text.error().text};
  auto cells = eval::parse_scenario(*text, options.file);
  if (!cells) return cells.error();
  const auto settings = core::settings_of(options.orb_options);
  if (!settings) return ExperimentFault{settings.error().text};
  const auto slowdowns = slowdowns_in(*settings, *cells);
  if (!slowdowns) return ExperimentFault{slowdowns.error().text};
  const eval::Scenario& scenario = cells->front().scenario;
  if (const auto fault = eval::fault_of_swept(cells->front().swept))
    return ExperimentFault{options.file + ": " + fault->text};
  const eval::RunDefaults defaults{.server = settings->executive};
  OpenExperiment experiment{.dispatchers = eval::dispatchers_of(scenario, defaults),
                            .baseline = eval::baseline_of(scenario, defaults),
                            .published = scenario.published,
                            .origin = {.experiment = scenario.name,
                                       .scenario = eval::fingerprint(*text + measured_in(*cells) + *slowdowns),
                                       .mode = options.mode,
                                       .machine = machine_text(),
                                       .kernel = kernel_text(),
                                       .version = options.version,
                                       .seed = scenario.seed},
                            .defaults = defaults};
  if (scenario.platform.cores == 0) {
    auto cores = host_cores(settings->executive);
    if (!cores) return ExperimentFault{cores.error()};
    experiment.defaults.cores = *std::move(cores);
  }
  experiment.cells = *std::move(cells);
  experiment.sets_in_file = sets_in_file(experiment.cells);
  if (auto fault = fault_of_experiment(experiment, options.file)) return *std::move(fault);
  if (options.repetitions)
    for (eval::Cell& cell : experiment.cells) cell.scenario.repetitions = *options.repetitions;
  for (eval::Cell& cell : experiment.cells)
    if (cell.scenario.name.empty()) cell.scenario.name = stem_of(options.file);
  return experiment;
}

std::string output_of(const EvaluateOptions& options) {
  if (!options.output.empty()) return options.output;
  return stem_of(options.file) + (options.quick ? quick_suffix : "") + ".csv";
}

// Why an experiment ended early, and the exit status.
struct EarlyEnd {
  std::string text;
  int status;
};

// Evaluator runs what the file of results lacks.
class Evaluator {
 public:
  Evaluator(const EvaluateOptions& options, const Evaluation& evaluation, OpenExperiment experiment, ResultsFile& file,
            std::ostream& err)
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

  // Runs what is missing, cell by cell. The fault is that of a set, or of the file.
  std::optional<EarlyEnd> run() {
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

  const OpenExperiment& experiment() const { return experiment_; }

  eval::ExperimentSummary summary() const {
    eval::Compared compared{.baseline = experiment_.baseline};
    for (const eval::Cell& cell : experiment_.cells) compared.cells.push_back(cell.swept);
    for (const eval::Dispatcher* const dispatcher : experiment_.dispatchers)
      compared.dispatchers.emplace_back(dispatcher->name);
    return eval::summarize(compared, results_);
  }

 private:
  using Key = std::tuple<std::size_t, std::int64_t, std::string>;

  static Key key_of(const eval::SetResult& result) { return {result.cell, result.set, result.dispatcher}; }

  static std::size_t threads_of(const EvaluateOptions& options) {
    if (options.mode != "virtual") return 1;
    return options.threads > 0 ? static_cast<std::size_t>(options.threads) : std::thread::hardware_concurrency();
  }

  std::int64_t repetitions_of(std::size_t cell) const { return experiment_.cells[cell].scenario.repetitions; }

  // Returns whether the differences are known as exactly as the scenario wants them.
  bool is_precise(std::size_t cell) const {
    const eval::Fraction precision = experiment_.cells[cell].scenario.experiment.precision;
    if (precision.millionths == 0) return true;
    const eval::ExperimentSummary sums = summary();
    return std::ranges::all_of(sums.cells[cell].differences, [&](const eval::Difference& difference) {
      return (difference.high - difference.low) / 2 * 1e6 <= static_cast<double>(precision.millionths);
    });
  }

  // Runs the sets of a cell, and more of them if the differences are not precise.
  std::optional<EarlyEnd> run_cell(std::size_t cell, Progress& progress) {
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

  std::optional<EarlyEnd> run_sets(std::size_t cell, std::span<const OpenRun> sets, Progress& progress) {
    while (!sets.empty() && !evaluation_.is_to_stop()) {
      const std::span<const OpenRun> batch = sets.first(std::min(sets.size(), sets_in_batch_));
      if (auto fault = run_batch(cell, {batch.begin(), batch.end()}, progress)) return fault;
      const auto done = std::ranges::find_if(batch, [&](const OpenRun& set) { return !is_done(cell, set); });
      if (done == batch.begin()) break;  // the runs were stopped
      sets = sets.subspan(static_cast<std::size_t>(done - batch.begin()));
    }
    return std::nullopt;
  }

  static std::uint64_t runs_in(const std::vector<OpenRun>& sets) {
    std::uint64_t runs = 0;
    for (const OpenRun& set : sets) runs += set.dispatchers.size();
    return runs;
  }

  bool is_done(std::size_t cell, const OpenRun& set) const {
    return std::ranges::all_of(set.dispatchers, [&](const eval::Dispatcher* dispatcher) {
      return known_.contains({cell, set.set, std::string(dispatcher->name)});
    });
  }

  // Returns what is missing of the first `sets` sets.
  std::vector<OpenRun> missing_in(std::size_t cell, std::int64_t sets) const {
    std::vector<OpenRun> open;
    for (std::int64_t set = 0; set < sets; ++set) {
      OpenRun missing{.set = set};
      for (const eval::Dispatcher* const dispatcher : experiment_.dispatchers)
        if (!known_.contains({cell, set, std::string(dispatcher->name)})) missing.dispatchers.push_back(dispatcher);
      if (!missing.dispatchers.empty()) open.push_back(std::move(missing));
    }
    return open;
  }

  std::optional<EarlyEnd> run_batch(std::size_t cell, const std::vector<OpenRun>& batch, Progress& progress) {
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

  void say(const std::string& text) const {
    if (evaluation_.shows_progress) err_ << "corelane eval: " << text << std::endl;
  }

  const EvaluateOptions& options_;
  const Evaluation& evaluation_;
  const OpenExperiment experiment_;
  ResultsFile& file_;
  std::ostream& err_;
  const SetRunner runner_;
  const std::size_t sets_in_batch_;
  std::vector<eval::SetResult> results_;
  std::set<Key> known_{};
};

// Returns how many sets each combination has at least. The file of results may have more than were asked for.
std::uint64_t fewest_sets(const eval::ExperimentSummary& summary, std::int64_t asked_for) {
  std::uint64_t fewest = std::numeric_limits<std::uint64_t>::max();
  for (const eval::CellSummary& cell : summary.cells)
    for (const eval::DispatcherSummary& sum : cell.dispatchers) fewest = std::min(fewest, sum.missed_sets.trials);
  return summary.cells.empty() ? static_cast<std::uint64_t>(asked_for)
                               : std::max(fewest, static_cast<std::uint64_t>(asked_for));
}

// Returns ", allocation worst-fit, test response-time, order arrival" without those that are swept. They are the
// policies of the first dispatcher that refuses tasks, or of the first one if all admit every task.
std::string unswept_policies(const OpenExperiment& experiment) {
  const eval::Cell& cell = experiment.cells.front();
  const auto refusing = std::ranges::find_if(experiment.dispatchers, &eval::Dispatcher::refuses);
  const eval::Dispatcher* const dispatcher =
      refusing == experiment.dispatchers.end() ? experiment.dispatchers.front() : *refusing;
  const eval::PolicyNames names = eval::policy_names(*dispatcher, cell.scenario, experiment.defaults);
  std::string text;
  const auto add = [&](const std::string& key, const std::string& name) {
    const bool is_swept = std::ranges::any_of(
        cell.swept, [&](const auto& swept) { return swept.first == std::string(eval::policy_prefix) + key; });
    if (!is_swept) text += ", " + key + " " + name;
  };
  add("allocation", names.allocation);
  add("test", names.test);
  add("order", names.order);
  return text;
}

// Returns what a reader has to know before the figures.
std::string heading_of(const OpenExperiment& experiment, const eval::ExperimentSummary& summary) {
  const eval::Scenario& scenario = experiment.cells.front().scenario;
  dispatch::ExecutiveOptions server = experiment.defaults.server;
  const auto request = eval::run_request(scenario, 0, experiment.defaults);
  if (request) server = request->server;
  const std::size_t cores = request ? request->cores.size() : 0;
  const bool is_virtual = experiment.origin.mode == "virtual";  // a real run has the overheads of its host
  const std::string overheads = request && is_virtual ? eval::text_of(request->overheads) : std::string();
  return scenario.name + ": " + experiment.origin.mode + " time, " + counted(cores, "core") + ", " +
         (scenario.experiment.precision.millionths > 0 ? "at least " : "") +
         counted(fewest_sets(summary, scenario.repetitions), "set") + " in each of " +
         counted(experiment.cells.size(), "combination") + ", " + to_string(scenario.experiment.length) + " each" +
         unswept_policies(experiment) + ", platform load " + to_string(server.platform.budget) + " in each " +
         to_string(server.platform.period) + (overheads.empty() ? "" : ", " + overheads) + ".";
}

bool breaks_promise(const eval::ExperimentSummary& summary) {
  return std::ranges::any_of(summary.cells, [](const eval::CellSummary& cell) {
    return std::ranges::any_of(cell.dispatchers,
                               [](const eval::DispatcherSummary& sum) { return sum.refuses && sum.late_tasks > 0; });
  });
}

// Writes a figure as SVG, and as PDF if the options say so. Returns what is wrong; "" if nothing is.
std::string write_figure(const EvaluateOptions& options, const eval::Figure& figure) {
  const std::string path = options.figures + "/" + figure.name + ".svg";
  if (!os::write_output_file(path, figure.svg))
    return path + " cannot be written; name another directory for --figures";
  return options.pdf ? write_pdf(path) : std::string();
}

// Writes the report and its figures where the options say. Returns what is wrong; "" if nothing is.
std::string write_report(const EvaluateOptions& options, const eval::Report& report) {
  if (!options.report.empty() && !os::write_output_file(options.report, report.html))
    return options.report + " cannot be written; name another file for --report";
  if (options.figures.empty()) return {};
  std::error_code ignored;  // if the directory cannot be made, its files cannot be written
  std::filesystem::create_directories(options.figures, ignored);
  for (const eval::Figure& figure : report.figures)
    if (std::string fault = write_figure(options, figure); !fault.empty()) return fault;
  return {};
}

int complain_of_experiment(const std::string& fault, std::ostream& err, int status = wrong_experiment) {
  err << "corelane eval: " << plain(fault) << "\n";
  return status;
}

std::vector<eval::Scenario> scenarios_of(const OpenExperiment& experiment) {
  std::vector<eval::Scenario> scenarios;
  for (const eval::Cell& cell : experiment.cells) scenarios.push_back(cell.scenario);
  return scenarios;
}

// Returns the word as a POSIX shell reads it.
std::string shell_word(const std::string& word) {
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

// Returns the command that runs a set of a combination again; "" if the file has fewer sets of it.
std::string simulate_command(const EvaluateOptions& options, const SetsInFile& sets, std::int64_t set,
                             const eval::Dispatcher& dispatcher) {
  if (set >= sets.count) return {};
  std::string command = "corelane simulate " + shell_word(options.file) + " --set " + std::to_string(sets.first + set) +
                        " --dispatcher " + shell_word(std::string(dispatcher.name));
  for (std::size_t i = 0; i + 1 < options.orb_options.size(); i += 2)
    if (!options.orb_options[i + 1].empty())
      command += " " + options.orb_options[i] + " " + shell_word(options.orb_options[i + 1]);
  return command;
}

eval::ReportInput report_input(const EvaluateOptions& options, const OpenExperiment& experiment,
                               const std::string& heading, const eval::ExperimentSummary& summary,
                               std::vector<eval::Table> tables, const std::function<bool()>& is_to_stop) {
  return eval::ReportInput{.title = experiment.cells.front().scenario.name,
                           .heading = heading,
                           .origin = experiment.origin,
                           .summary = summary,
                           .tables = std::move(tables),
                           .note = experiment.cells.front().scenario.experiment.note,
                           .dispatchers = experiment.dispatchers,
                           .defaults = experiment.defaults,
                           .scenarios = scenarios_of(experiment),
                           .command_of =
                               [&](std::size_t cell, std::int64_t set, const eval::Dispatcher& dispatcher) {
                                 return simulate_command(options, experiment.sets_in_file[cell], set, dispatcher);
                               },
                           .is_to_stop = is_to_stop};
}

// Writes what came of the experiment. Returns the exit status.
int conclude(const EvaluateOptions& options, const Evaluator& evaluator, const std::function<bool()>& is_to_stop,
             std::ostream& out, std::ostream& err) {
  const OpenExperiment& experiment = evaluator.experiment();
  const eval::Scenario& scenario = experiment.cells.front().scenario;
  const eval::ExperimentSummary summary = evaluator.summary();
  const std::string heading = heading_of(experiment, summary);
  const std::vector<eval::Table> tables = eval::tables_of(summary, experiment.published);
  out << eval::wrapped(heading) << "\n";
  for (const eval::Table& table : tables) out << eval::text_of(table) << "\n";
  const std::string note =
      eval::note_of_slowdowns(scenarios_of(experiment), experiment.dispatchers, experiment.defaults);
  if (!note.empty()) out << eval::wrapped(note);
  if (!scenario.experiment.note.empty()) out << eval::wrapped(scenario.experiment.note);
  out << "Each set: " << plain(output_of(options)) << "\n";
  if (!options.report.empty() || !options.figures.empty()) {
    const eval::Report report =
        eval::report_of(report_input(options, experiment, heading, summary, tables, is_to_stop));
    if (const std::string fault = write_report(options, report); !fault.empty())
      return complain_of_experiment(fault, err);
    if (!options.report.empty()) out << "Report: " << options.report << "\n";
    if (!options.figures.empty()) out << counted(report.figures.size(), "figure") << ": " << options.figures << "\n";
  }
  if (options.mode != "virtual" || !breaks_promise(summary)) return whole_experiment;
  err << "corelane eval: an admitted task missed a deadline in virtual time, which breaks the server's promise; look "
         "for it in the column late_tasks of "
      << output_of(options) << "\n";
  return part_of_experiment;
}

}  // namespace

int evaluate(const EvaluateOptions& options, const Evaluation& evaluation, std::ostream& out, std::ostream& err) {
  auto experiment = open_experiment(options);
  if (!experiment) return complain_of_experiment(experiment.error().text, err);
  if (options.quick) shorten(*experiment);
  const std::string path = output_of(options);
  if (const std::string fault = fault_of_outputs(options, path); !fault.empty())
    return complain_of_experiment(fault, err);
  if (const std::string fault = options.pdf ? fault_of_pdf() : ""; !fault.empty())
    return complain_of_experiment(fault, err);
  if (const auto fault = fault_of_combinations(*experiment, evaluation))
    return complain_of_experiment(options.file + ": " + *fault, err);
  auto file = ResultsFile::open(path, experiment->origin, experiment->cells.front().swept, experiment->cells.size());
  if (!file) return complain_of_experiment(file.error(), err);
  Evaluator evaluator(options, evaluation, *std::move(experiment), *file, err);
  if (const auto fault = evaluator.run()) return complain_of_experiment(fault->text, err, fault->status);
  if (!evaluation.is_to_stop()) return conclude(options, evaluator, evaluation.is_to_stop, out, err);
  err << "corelane eval: stopped; " << path << " has what is done, and the same command goes on from there\n";
  return part_of_experiment;
}

}  // namespace corelane::tool
