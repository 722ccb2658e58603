#include "orb/eval/run_requests.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "orb/core/contracts/slowdowns.h"
#include "orb/eval/server_options.h"
#include "orb/eval/slowdown_table.h"
#include "orb/eval/virtual_run.h"

namespace corelane::eval {

namespace {

constexpr std::uint64_t most_jobs = 100'000'000;  // a run of so many takes a minute or more

// Returns the number of periods that begin within the length.
std::uint64_t periods_in(Duration length, Duration period) noexcept {
  return period <= Duration::zero() ? 0 : static_cast<std::uint64_t>((length - Duration{1}) / period) + 1;
}

SlowdownTable slowdowns_of(const Scenario& scenario) { return {scenario.slowdowns, scenario.platform.slowdown}; }

std::optional<SlowdownTable> charged_slowdowns(const RunRequest& request) {
  return request.charge_slowdowns ? std::optional(request.slowdowns) : std::nullopt;
}

// Makes the server charge slowdowns, or not, as the policy says.
void charge_worst(const Scenario& scenario, dispatch::ExecutiveOptions& server) {
  if (!scenario.policy.charge_slowdowns) return;  // it stays as the settings say
  const bool is_worst = scenario.policy.charge_slowdowns == SlowdownCharge::worst;
  server.slowdowns = is_worst ? core::worst_of(scenario.slowdowns) : nullptr;
}

// Returns which policies of the scenario cannot be run, and what to change.
std::optional<ScenarioFault> fault_of(const Policy& policy, const RunRequest& request) {
  if (aperiodic_policy_of(policy))
    return ScenarioFault{"policy.aub decides about jobs in corelane plan only; use that, or leave it out"};
  auto bad = fault_of(PlanRequest{.tasks = request.tasks,
                                  .cores = request.cores,
                                  .server = request.server,
                                  .custom = request.custom,
                                  .charged_slowdowns = charged_slowdowns(request),
                                  .overheads = request.overheads});
  if (!bad) return std::nullopt;
  return ScenarioFault{*std::move(bad)};
}

// Returns the mode that a plan is for: that of policy.dispatcher, which `mode` has. If the scenario has none, it is
// that of the first one of experiment.dispatchers that refuses tasks.
dispatch::DispatchMode planned_mode(const Scenario& scenario, dispatch::DispatchMode mode) {
  if (!scenario.policy.dispatcher.empty()) return mode;
  for (const std::string& name : scenario.experiment.dispatchers)
    if (const Dispatcher* const dispatcher = find_named(dispatchers(), name); dispatcher->refuses)
      return dispatcher->mode;
  return mode;
}

}  // namespace

std::vector<const Dispatcher*> dispatchers_of(const Scenario& scenario, const RunDefaults& defaults) {
  std::vector<const Dispatcher*> result;
  for (const std::string& name : scenario.experiment.dispatchers) result.push_back(find_named(dispatchers(), name));
  if (result.empty()) result = {single_dispatcher_of(scenario, defaults), find_named(dispatchers(), "mc-orb*")};
  return result;
}

std::string baseline_of(const Scenario& scenario, const RunDefaults& defaults) {
  const std::string& given = scenario.experiment.baseline;
  return given.empty() ? std::string(dispatchers_of(scenario, defaults).back()->name) : given;
}

std::optional<ScenarioFault> fault_of_swept(const std::vector<std::pair<std::string, std::string>>& swept) {
  if (std::ranges::none_of(swept, [](const auto& field) { return field.first == "policy.dispatcher"; }))
    return std::nullopt;
  return ScenarioFault{
      "a sweep over policy.dispatcher has no meaning in an experiment; leave it out, and list the dispatchers in "
      "experiment.dispatchers"};
}

std::string note_of_slowdowns(std::span<const Scenario> scenarios, std::span<const Dispatcher* const> dispatchers,
                              const RunDefaults& defaults) {
  const auto any_has = [scenarios](std::optional<SlowdownCharge> charge) {
    return std::ranges::any_of(scenarios, [charge](const Scenario& s) { return s.policy.charge_slowdowns == charge; });
  };
  std::string reason;
  const auto add = [&reason](std::string_view next) { reason.append(reason.empty() ? "" : " or ").append(next); };
  if (any_has(SlowdownCharge::placed)) add("policy.charge_slowdowns = true");
  if (any_has(SlowdownCharge::worst)) add("policy.charge_slowdowns = \"worst\"");
  if (defaults.server.slowdowns && any_has(std::nullopt)) add("the setting dispatch.slowdowns");
  if (reason.empty() || std::ranges::none_of(dispatchers, &Dispatcher::refuses)) return {};
  return "With " + reason + ", " + std::string(charged_slowdowns_note) + ".";
}

const Dispatcher* single_dispatcher_of(const Scenario& scenario, const RunDefaults& defaults) {
  if (scenario.policy.dispatcher.empty() && !scenario.experiment.dispatchers.empty())
    return find_named(dispatchers(), scenario.experiment.dispatchers.front());
  dispatch::ExecutiveOptions server = defaults.server;
  apply(scenario.policy, server);
  return dispatcher_of(server.mode);
}

const Dispatcher* dispatcher_of(dispatch::DispatchMode mode) noexcept {
  return *std::ranges::find(dispatchers(), mode, &Dispatcher::mode);
}

Expected<RunRequest, ScenarioFault> run_request(const Scenario& scenario, std::int64_t set,
                                                const RunDefaults& defaults) {
  if (scenario.experiment.length > longest_run)
    return ScenarioFault{"experiment.length = " + to_string(scenario.experiment.length) +
                         " is longer than a day, the longest run; write a shorter one such as \"10s\""};
  auto tasks = tasks_of(scenario, set);
  if (!tasks) return tasks.error();
  const RunOverheads overheads = run_overheads(scenario, tasks->size());
  RunRequest request{.tasks = *std::move(tasks),
                     .cores = defaults.cores,
                     .server = defaults.server,
                     .custom = defaults.custom,
                     .overheads = overheads,
                     .slowdowns = slowdowns_of(scenario),
                     .charge_slowdowns = scenario.policy.charge_slowdowns == SlowdownCharge::placed,
                     .transport = scenario.experiment.transport,
                     .length = scenario.experiment.length,
                     .seed = run_seed(scenario, set)};
  if (scenario.platform.cores > 0) request.cores = numbered_cores(static_cast<int>(scenario.platform.cores));
  apply(scenario.platform, request.server);
  apply(scenario.policy, request.server);
  charge_worst(scenario, request.server);
  if (auto bad = fault_of(scenario.policy, request)) return *std::move(bad);
  return request;
}

Expected<PlanRequest, ScenarioFault> plan_request(const Scenario& scenario, std::vector<Task> tasks,
                                                  const RunDefaults& defaults) {
  PlanRequest request{.tasks = std::move(tasks),
                      .cores = defaults.cores,
                      .server = defaults.server,
                      .jobs = aperiodic_policy_of(scenario.policy),
                      .chains = scenario.chains,
                      .spin_locks = scenario.policy.locks == "msrp",
                      .custom = defaults.custom};
  if (scenario.policy.charge_slowdowns == SlowdownCharge::placed) request.charged_slowdowns = slowdowns_of(scenario);
  apply(scenario.platform, request.server);
  apply(scenario.policy, request.server);
  charge_worst(scenario, request.server);
  request.server.mode = planned_mode(scenario, request.server.mode);
  if (request.server.mode == dispatch::DispatchMode::leader_followers)
    return ScenarioFault{
        "dispatch.mode leader-followers promises nothing, so there is nothing to plan; use manager or direct"};
  if (scenario.platform.cores > 0) request.cores = numbered_cores(static_cast<int>(scenario.platform.cores));
  request.overheads = overheads_in(request.server.mode, run_overheads(scenario, request.tasks.size()));
  return request;
}

// Functions are not asked twice: they may count their calls.
void explain_refusals(const RunRequest& request, RunOutcome& outcome) {
  if (std::ranges::all_of(outcome.tasks, &TaskOutcome::admitted) || !request.dispatcher->refuses) return;
  if (request.custom != nullptr) return;
  const Plan plan = eval::plan({.tasks = request.tasks,
                                .cores = request.cores,
                                .server = server_under(*request.dispatcher, request.server),
                                .sensitivity = false,
                                .fewest = false,
                                .charged_slowdowns = charged_slowdowns(request),
                                .overheads = request.overheads});
  for (std::size_t i = 0; i < outcome.tasks.size(); ++i)
    if (!outcome.tasks[i].admitted && !plan.tasks[i].admitted)
      outcome.tasks[i].refusal = reason_of(plan.tasks[i].refusal, plan.tasks[i].refusal_note);
}

std::optional<ScenarioFault> fault_of_length(const RunRequest& request) {
  const std::uint64_t jobs = most_jobs_of(request);
  if (jobs <= most_jobs) return std::nullopt;
  return ScenarioFault{"a run of " + to_string(request.length) + " has " + std::to_string(jobs) + " jobs, and " +
                       std::to_string(most_jobs) + " are the most that can be simulated; choose a shorter length"};
}

std::uint64_t most_jobs_of(const RunRequest& request) noexcept {
  const sched::PlatformLoad& load = request.server.platform;
  std::uint64_t jobs = 0;
  for (const Task& task : request.tasks) jobs += periods_in(request.length, task.contract.period);
  if (load.budget > Duration::zero()) jobs += periods_in(request.length, load.period) * request.cores.size();
  return jobs;
}

}  // namespace corelane::eval
