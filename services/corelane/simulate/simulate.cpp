#include "services/corelane/simulate/simulate.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <ostream>
#include <utility>

#include "orb/base/registry.h"
#include "orb/core/config/settings_of.h"
#include "orb/eval/dispatchers.h"
#include "orb/eval/run_requests.h"
#include "orb/eval/scenario_file.h"
#include "orb/eval/scenario_formats.h"
#include "orb/eval/virtual_run.h"
#include "services/corelane/output/text.h"
#include "services/corelane/plan/host_cores.h"
#include "services/corelane/simulate/jobs_file.h"
#include "services/corelane/simulate/run_text.h"

namespace corelane::tool {
namespace {

constexpr int wrong_simulation = 2;

using SimulationFault = eval::ScenarioFault;

// A scenario, and which of its sets to run.
struct ChosenSet {
  eval::Scenario scenario{};
  std::int64_t set = 0;  // from 0
};

Expected<ChosenSet, SimulationFault> chosen_set(const SimulateOptions& options, std::vector<eval::Cell> cells) {
  std::int64_t sets = 0;
  for (const eval::Cell& cell : cells) sets += cell.scenario.repetitions;
  if (!options.set && cells.size() > 1)
    return SimulationFault{options.file +
                           " has sweeps, which are many sets of tasks; choose one with --set, from 1 to " +
                           std::to_string(sets) + ", or use corelane eval " + options.file + " --virtual"};
  std::int64_t set = options.set.value_or(1) - 1;
  for (eval::Cell& cell : cells) {
    if (set < cell.scenario.repetitions) return ChosenSet{std::move(cell.scenario), set};
    set -= cell.scenario.repetitions;
  }
  return SimulationFault{"--set " + std::to_string(*options.set) + " is more than the sets of " + options.file + ", " +
                         std::to_string(sets) + "; choose a smaller number, or raise repetitions"};
}

// Returns the chosen set, with what the options change.
Expected<ChosenSet, SimulationFault> read_set(const SimulateOptions& options) {
  const auto text = eval::read_scenario_file(options.file);
  if (!text) return SimulationFault{text.error().text};
  auto cells = eval::parse_scenario(*text, options.file);
  if (!cells) return cells.error();
  if (options.length && *options.length > eval::longest_run)
    return SimulationFault{"--length " + to_string(*options.length) +
                           " is longer than a day, the longest run; say a shorter one, such as --length 10s"};
  auto chosen = chosen_set(options, *std::move(cells));
  if (!chosen) return chosen;
  if (options.length) chosen->scenario.experiment.length = *options.length;
  if (options.cores) chosen->scenario.platform.cores = *options.cores;
  return chosen;
}

Expected<eval::RunRequest, SimulationFault> request_for(const SimulateOptions& options, const ChosenSet& chosen) {
  const eval::Scenario& scenario = chosen.scenario;
  const auto settings = core::settings_of(options.orb_options);
  if (!settings) return SimulationFault{settings.error().text};
  eval::RunDefaults defaults{.server = settings->executive};
  if (scenario.platform.cores == 0) {
    auto cores = host_cores(defaults.server);
    if (!cores) return SimulationFault{cores.error()};
    defaults.cores = *std::move(cores);
  }
  auto request = eval::run_request(scenario, chosen.set, defaults);
  if (!request) return SimulationFault{options.file + ": " + request.error().text};
  request->dispatcher = options.dispatcher.empty() ? eval::single_dispatcher_of(scenario, defaults)
                                                   : find_named(eval::dispatchers(), options.dispatcher);
  if (const auto fault = eval::fault_of_length(*request))
    return SimulationFault{options.file + ": " + fault->text + " with --length"};
  return request;
}

SimulationFault unwritable(const SimulateOptions& options) {
  return {"--jobs " + options.jobs +
          " cannot be written; name a file in a directory that you may write to, on a disk that is not full"};
}

bool all_is_well(const eval::RunOutcome& outcome) {
  return std::ranges::all_of(outcome.tasks,
                             [](const eval::TaskOutcome& task) { return task.admitted && task.misses == 0; });
}

int complain_of(const SimulationFault& fault, std::ostream& err) {
  err << "corelane simulate: " << plain(fault.text) << "\n";
  return wrong_simulation;
}

int say_stopped(const SimulateOptions& options, std::ostream& err) {
  err << "corelane simulate: the run of " << plain(options.file) << " was interrupted, so nothing was "
      << (options.jobs.empty() ? "shown" : "written to " + plain(options.jobs)) << "\n";
  return 1;
}

}  // namespace

int simulate(const SimulateOptions& options, std::ostream& out, std::ostream& err) {
  const auto chosen = read_set(options);
  if (!chosen) return complain_of(chosen.error(), err);
  const auto request = request_for(options, *chosen);
  if (!request) return complain_of(request.error(), err);
  std::optional<JobsFile> jobs;
  if (!options.jobs.empty()) {
    if (JobsFile::overwrites(options.jobs, options.file))
      return complain_of({"--jobs " + options.jobs + " would overwrite the scenario; name another file"}, err);
    jobs.emplace(options.jobs, request->tasks);
    if (!jobs->is_open()) return complain_of(unwritable(options), err);
  }
  auto outcome = eval::run_virtually(*request, jobs ? &*jobs : nullptr, options.is_to_stop);
  if (!outcome) return say_stopped(options, err);
  if (jobs && !jobs->close()) return complain_of(unwritable(options), err);
  eval::explain_refusals(*request, *outcome);
  const std::vector<std::string>& notes = chosen->scenario.notes;
  outcome->notes.insert(outcome->notes.begin(), notes.begin(), notes.end());
  out << text_of(*request, *outcome, options.format);
  return all_is_well(*outcome) ? 0 : 1;
}

}  // namespace corelane::tool
