#include "services/corelane/evaluate/loaded_experiment.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <set>
#include <utility>

#include "orb/base/text/counted.h"
#include "orb/core/config/settings_of.h"
#include "orb/core/settings.h"
#include "orb/core/settings_fault.h"
#include "orb/core/text/toml_text.h"
#include "orb/eval/run_overheads.h"
#include "orb/eval/scenario_formats.h"
#include "services/corelane/evaluate/origin.h"
#include "services/corelane/evaluate/output_paths.h"
#include "services/corelane/plan/host_cores.h"

namespace corelane::tool {
namespace {

constexpr std::int64_t quick_sets = 4;

// Returns what is wrong with the baseline or with published values; nothing if nothing is.
std::optional<eval::ScenarioFault> fault_of_experiment(const LoadedExperiment& experiment, const std::string& path) {
  if (std::ranges::find(experiment.dispatchers, experiment.baseline, &eval::Dispatcher::name) ==
      experiment.dispatchers.end())
    return eval::ScenarioFault{path + ": experiment.baseline = \"" + experiment.baseline +
                               "\" is none of experiment.dispatchers; add it there, or name another one"};
  for (const eval::Published& published : experiment.published)
    if (experiment.cells.size() % published.values.size() != 0 ||
        published.values.size() != experiment.published.front().values.size())
      return eval::ScenarioFault{path + ": published.values of " + published.dispatcher + " has " +
                                 counted(published.values.size(), "value") + ", but there are " +
                                 counted(experiment.cells.size(), "combination") +
                                 " of the sweeps; give one for each, or for each of the last sweeps"};
  return std::nullopt;
}

// Returns "with policy.test = x, generate.tasks = 4: ", or "" without sweeps.
std::string name_of_combination(const eval::Cell& cell) {
  std::string name;
  for (const auto& [field, value] : cell.swept) name += (name.empty() ? "with " : ", ") + field + " = " + value;
  return name.empty() ? name : name + ": ";
}

// Returns why a combination cannot be run under one of the dispatchers; "" if it can.
std::string fault_of_combination(const LoadedExperiment& experiment, const Evaluation& evaluation,
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

}  // namespace

Expected<LoadedExperiment, eval::ScenarioFault> load_experiment(const EvaluateOptions& options) {
  const auto text = eval::read_scenario_file(options.file);
  if (!text) return eval::ScenarioFault{text.error().text};
  auto cells = eval::parse_scenario(*text, options.file);
  if (!cells) return cells.error();
  const auto settings = core::settings_of(options.orb_options);
  if (!settings) return eval::ScenarioFault{settings.error().text};
  const auto slowdowns = slowdowns_in(*settings, *cells);
  if (!slowdowns) return eval::ScenarioFault{slowdowns.error().text};
  const eval::Scenario& scenario = cells->front().scenario;
  if (const auto fault = eval::fault_of_swept(cells->front().swept))
    return eval::ScenarioFault{options.file + ": " + fault->text};
  const eval::RunDefaults defaults{.server = settings->executive};
  LoadedExperiment experiment{.dispatchers = eval::dispatchers_of(scenario, defaults),
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
    if (!cores) return eval::ScenarioFault{cores.error()};
    experiment.defaults.cores = *std::move(cores);
  }
  experiment.cells = *std::move(cells);
  experiment.sets_in_file = sets_in_file(experiment.cells);
  if (auto fault = fault_of_experiment(experiment, options.file)) return *std::move(fault);
  if (options.repetitions)
    for (eval::Cell& cell : experiment.cells) cell.scenario.repetitions = *options.repetitions;
  for (eval::Cell& cell : experiment.cells)
    if (cell.scenario.name.empty()) cell.scenario.name = std::filesystem::path(options.file).stem().string();
  return experiment;
}

void shorten(LoadedExperiment& experiment) {
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

std::optional<std::string> fault_of_combinations(const LoadedExperiment& experiment, const Evaluation& evaluation) {
  for (const eval::Cell& cell : experiment.cells)
    if (const std::string fault = fault_of_combination(experiment, evaluation, cell); !fault.empty())
      return name_of_combination(cell) + fault;
  return std::nullopt;
}

}  // namespace corelane::tool
