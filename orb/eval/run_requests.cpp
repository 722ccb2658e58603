#include "orb/eval/run_requests.h"

#include <algorithm>
#include <utility>

#include "orb/eval/plan.h"
#include "orb/eval/server_options.h"
#include "orb/eval/virtual_run.h"

namespace corelane::eval {

std::vector<const Dispatcher*> dispatchers_of(const Experiment& experiment) {
  std::vector<const Dispatcher*> result;
  for (const std::string& name : experiment.dispatchers) result.push_back(find_named(dispatchers(), name));
  if (result.empty()) result = {find_named(dispatchers(), "mc-orb"), find_named(dispatchers(), "mc-orb*")};
  return result;
}

std::string baseline_of(const Experiment& experiment) {
  return experiment.baseline.empty() ? std::string(dispatchers_of(experiment).back()->name) : experiment.baseline;
}

const Dispatcher* dispatcher_of(dispatch::DispatchMode mode) noexcept {
  return *std::ranges::find(dispatchers(), mode, &Dispatcher::mode);
}

Expected<RunRequest, ScenarioFault> run_request(const Scenario& scenario, std::int64_t set,
                                                const RunDefaults& defaults) {
  auto tasks = tasks_of(scenario, set);
  if (!tasks) return tasks.error();
  RunRequest request{.tasks = *std::move(tasks),
                     .cores = defaults.cores,
                     .server = defaults.server,
                     .transport = scenario.experiment.transport,
                     .length = scenario.experiment.length,
                     .seed = run_seed(scenario, set)};
  if (scenario.platform.cores > 0) request.cores = numbered_cores(static_cast<int>(scenario.platform.cores));
  apply(scenario.platform, request.server);
  apply(scenario.policy, request.server);
  return request;
}

}  // namespace corelane::eval
