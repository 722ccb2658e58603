#include "services/corelane/evaluate/experiment_report.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <system_error>
#include <utility>

#include "orb/base/contract.h"
#include "orb/base/text/counted.h"
#include "orb/eval/policy_names.h"
#include "orb/eval/run_requests.h"
#include "orb/os/files/small_file.h"
#include "services/corelane/evaluate/pdf_figures.h"

namespace corelane::tool {
namespace {

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
std::string unswept_policies(const LoadedExperiment& experiment) {
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

// Writes a figure as SVG, and as PDF if the options say so. Returns what is wrong; "" if nothing is.
std::string write_figure(const EvaluateOptions& options, const eval::Figure& figure) {
  const std::string path = options.figures + "/" + figure.name + ".svg";
  if (!os::write_output_file(path, figure.svg))
    return path + " cannot be written; name another directory for --figures";
  return options.pdf ? write_pdf(path) : std::string();
}

}  // namespace

std::string heading_of(const LoadedExperiment& experiment, const eval::ExperimentSummary& summary) {
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

std::vector<eval::Scenario> scenarios_of(const LoadedExperiment& experiment) {
  std::vector<eval::Scenario> scenarios;
  for (const eval::Cell& cell : experiment.cells) scenarios.push_back(cell.scenario);
  return scenarios;
}

eval::ReportInput report_input(const EvaluateOptions& options, const LoadedExperiment& experiment,
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

}  // namespace corelane::tool
