// Turns a scenario into requests for runs and plans.
// Threads: pure functions. They allocate.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "orb/base/expected.h"
#include "orb/base/ids.h"
#include "orb/base/time.h"
#include "orb/dispatch/executive.h"
#include "orb/eval/dispatchers.h"
#include "orb/eval/plan.h"
#include "orb/eval/run.h"
#include "orb/eval/scenario.h"

namespace corelane::eval {

struct CustomPolicies;  // orb/eval/planning/custom_policies.h

// The longest run. Sums of the times of a run cannot overflow then.
inline constexpr Duration longest_run = std::chrono::hours{24};

// The values for fields that a scenario leaves out.
struct RunDefaults {
  dispatch::ExecutiveOptions server{};
  std::vector<CoreId> cores{};             // at least one, unless the scenario says how many
  const CustomPolicies* custom = nullptr;  // in place of the scenario's allocation and test; must outlive the requests
};

// Returns the dispatchers of an experiment, at least one: those of experiment.dispatchers. If the scenario has none,
// they are that of a single run, and mc-orb*.
std::vector<const Dispatcher*> dispatchers_of(const Scenario& scenario, const RunDefaults& defaults = {});

// Returns the dispatcher with which the others are compared.
std::string baseline_of(const Scenario& scenario, const RunDefaults& defaults = {});

// Returns that an experiment cannot sweep these fields, and what to write; nothing if it can. Each combination runs
// under all dispatchers, so a sweep over policy.dispatcher would have no effect.
std::optional<ScenarioFault> fault_of_swept(const std::vector<std::pair<std::string, std::string>>& swept);

// Returns a sentence for the reader of the figures: budgets of the analysis include slowdowns, because of which field
// or setting. "": they do not in any of the combinations, or no dispatcher refuses tasks.
std::string note_of_slowdowns(std::span<const Scenario> scenarios, std::span<const Dispatcher* const> dispatchers,
                              const RunDefaults& defaults);

// Returns the dispatcher of a single run: that of policy.dispatcher. If the scenario has none, it is the first of
// experiment.dispatchers. Without these, it is that of the server's settings.
const Dispatcher* single_dispatcher_of(const Scenario& scenario, const RunDefaults& defaults = {});

// Returns the dispatcher that has the mode of the server.
const Dispatcher* dispatcher_of(dispatch::DispatchMode mode) noexcept;

// Returns the request for set number `set`, from 0 to scenario.repetitions - 1. It has no dispatcher yet. The fault:
// the run is longer than longest_run, policies do not work together, or see tasks_of().
Expected<RunRequest, ScenarioFault> run_request(const Scenario& scenario, std::int64_t set,
                                                const RunDefaults& defaults);

// Returns the request for a plan of these tasks by the platform, the policies and the chains of the scenario. Ask
// fault_of() before plan(). The fault: the policies promise nothing.
Expected<PlanRequest, ScenarioFault> plan_request(const Scenario& scenario, std::vector<Task> tasks,
                                                  const RunDefaults& defaults);

// Replaces the reasons of refusals by those of a plan, which have the labels of tasks and contracts that would fit.
void explain_refusals(const RunRequest& request, RunOutcome& outcome);

// Returns how many jobs a run of the request has at most if its tasks are periodic. The platform load counts, too,
// since a simulation runs it as jobs.
std::uint64_t most_jobs_of(const RunRequest& request) noexcept;

// Returns that a virtual run of the request would take too long; nothing if it would not.
std::optional<ScenarioFault> fault_of_length(const RunRequest& request);

}  // namespace corelane::eval
