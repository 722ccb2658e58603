#include "services/corelane/simulate/simulate.h"

#include <algorithm>
#include <optional>
#include <ostream>
#include <utility>

#include "orb/base/registry.h"
#include "orb/core/config/settings_of.h"
#include "orb/core/config/toml_text.h"
#include "orb/eval/dispatchers.h"
#include "orb/eval/plan.h"
#include "orb/eval/run_requests.h"
#include "orb/eval/scenario_file.h"
#include "orb/eval/virtual_run.h"
#include "services/corelane/output/text.h"
#include "services/corelane/plan/host_cores.h"
#include "services/corelane/simulate/jobs_file.h"
#include "services/corelane/simulate/run_text.h"

namespace corelane::tool {
namespace {

constexpr int wrong_simulation = 2;

using SimulationFault = eval::ScenarioFault;

// Returns the scenario of a file that has one set of tasks for each repetition, and no sweeps.
Expected<eval::Scenario, SimulationFault> one_scenario(const SimulateOptions& options) {
  const auto text = core::read_toml("scenario", options.file);
  if (!text) return SimulationFault{text.error().text};
  auto cells = eval::parse_scenario(*text, options.file);
  if (!cells) return cells.error();
  if (cells->size() > 1)
    return SimulationFault{options.file + " has sweeps, which are many sets of tasks; use corelane eval " +
                           options.file + " --virtual, or remove the sweeps"};
  eval::Scenario scenario = std::move(cells->front().scenario);
  if (options.set > scenario.repetitions)
    return SimulationFault{"--set " + std::to_string(options.set) + " is more than the repetitions of " + options.file +
                           ", " + std::to_string(scenario.repetitions) + "; say --set 1, or raise repetitions"};
  if (options.length) scenario.experiment.length = *options.length;
  if (options.cores) scenario.platform.cores = *options.cores;
  return scenario;
}

Expected<eval::RunRequest, SimulationFault> request_for(const SimulateOptions& options,
                                                        const eval::Scenario& scenario) {
  const auto settings = core::settings_of(options.orb_options);
  if (!settings) return SimulationFault{settings.error().text};
  eval::RunDefaults defaults{.server = settings->executive};
  if (scenario.platform.cores == 0) {
    auto cores = host_cores(defaults.server);
    if (!cores) return SimulationFault{cores.error()};
    defaults.cores = *std::move(cores);
  }
  auto request = eval::run_request(scenario, options.set - 1, defaults);
  if (!request) return SimulationFault{options.file + ": " + request.error().text};
  request->dispatcher = options.dispatcher.empty() ? eval::dispatcher_of(request->server.mode)
                                                   : find_named(eval::dispatchers(), options.dispatcher);
  return request;
}

bool all_is_well(const eval::RunOutcome& outcome) {
  return std::ranges::all_of(outcome.tasks,
                             [](const eval::TaskOutcome& task) { return task.admitted && task.misses == 0; });
}

int complain_of(const SimulationFault& fault, std::ostream& err) {
  err << "corelane simulate: " << plain(fault.text) << "\n";
  return wrong_simulation;
}

}  // namespace

int simulate(const SimulateOptions& options, std::ostream& out, std::ostream& err) {
  const auto scenario = one_scenario(options);
  if (!scenario) return complain_of(scenario.error(), err);
  const auto request = request_for(options, *scenario);
  if (!request) return complain_of(request.error(), err);
  std::optional<JobsFile> jobs;
  if (!options.jobs.empty()) jobs.emplace(options.jobs, request->tasks);
  eval::RunOutcome outcome = eval::run_virtually(*request, jobs ? &*jobs : nullptr);
  outcome.notes.insert(outcome.notes.begin(), scenario->notes.begin(), scenario->notes.end());
  if (jobs && !jobs->close())
    return complain_of({"--jobs " + options.jobs +
                        " cannot be written; name a file in a directory that you may write "
                        "to, on a disk that is not full"},
                       err);
  out << text_of(*request, outcome, options.format);
  return all_is_well(outcome) ? 0 : 1;
}

}  // namespace corelane::tool
