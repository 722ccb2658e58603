#include "orb/eval/planning/whole_set.h"

#include <algorithm>
#include <string_view>

#include "orb/dispatch/budget_charge.h"
#include "orb/dispatch/manager_options.h"
#include "orb/eval/planning/custom_set.h"
#include "orb/eval/planning/global_set.h"
#include "orb/eval/planning/slowdown_set.h"
#include "orb/eval/planning/split_set.h"
#include "orb/sched/allocation_strategy.h"

namespace corelane::eval {
namespace {

bool is_whole_set(const PlanRequest& request) {
  const dispatch::ExecutiveOptions& server = request.server;
  return request.jobs || request.custom != nullptr || sched::is_global(server.admission_test->scheduling) ||
         server.allocation->splits;
}

// Returns the policy that needs a WholeSet, for messages: as a scenario file has it.
std::string policy_text(const PlanRequest& request) {
  if (request.custom != nullptr) return "a policy that is a function";
  const dispatch::ExecutiveOptions& server = request.server;
  const bool splits = server.allocation->splits;
  const std::string_view name = splits ? server.allocation->name : server.admission_test->name;
  return (splits ? "policy.allocation = \"" : "policy.test = \"") + std::string(name) + "\"";
}

// Returns what is wrong if the request has policies that are functions, and one of the scenario that does not work with
// them.
std::optional<std::string> fault_of_custom(const PlanRequest& request) {
  if (request.custom == nullptr) return std::nullopt;
  const dispatch::ExecutiveOptions& server = request.server;
  std::string other;
  if (request.jobs) other = "policy.aub";
  if (server.allocation->splits) other = "policy.allocation = \"" + std::string(server.allocation->name) + "\"";
  if (sched::is_global(server.admission_test->scheduling))
    other = "policy.test = \"" + std::string(server.admission_test->name) + "\"";
  if (server.allocation->regards_caches && !request.custom->allocation)
    return "policy.allocation = \"" + std::string(server.allocation->name) +
           "\" places tasks by their use of caches, which a test that is a function does not know; choose another "
           "allocation, or give the allocation as a function, too";
  if (other.empty()) return std::nullopt;
  return other + " does not work with a policy that is a function; leave one out";
}

// Returns what is wrong if the request has something that does not work with budgets that include slowdowns.
std::optional<std::string> fault_of_charged(const PlanRequest& request) {
  std::string other;
  if (is_whole_set(request)) other = request.jobs ? "policy.aub" : policy_text(request);
  if (request.spin_locks) other = "policy.locks = \"msrp\"";
  if (!request.chains.empty()) other = "chains";
  for (const Task& task : request.tasks) {
    if (request.charged_slowdowns && uses_resources(task.contract))
      other = "resources, which task " + task.label + " uses";
    if (task.is_high) other = "high criticality, which task " + task.label + " has";
  }
  if (other.empty()) return std::nullopt;
  if (request.charged_slowdowns)
    return "policy.charge_slowdowns has no analysis of " + other + "; leave one of them out";
  return "policy.charge_slowdowns = \"worst\", or the setting dispatch.slowdowns, has no analysis of " + other +
         "; leave one of them out, or write policy.charge_slowdowns = false";
}

// Returns what is wrong with a policy for single jobs.
std::optional<std::string> fault_of_jobs(const PlanRequest& request) {
  if (!request.jobs) return std::nullopt;
  if (request.server.admission_test->name != "aub")
    return "policy.aub has a meaning for test = \"aub\" only; leave it out";
  if (request.server.allocation->splits)
    return policy_text(request) + " has no meaning for test = \"aub\"; leave it out";
  if (const auto bad = sched::fault_of(*request.jobs)) return "policy.aub: " + *bad;
  return std::nullopt;
}

std::optional<std::string> fault_of_cores(const PlanRequest& request) {
  const dispatch::ExecutiveOptions& server = request.server;
  const std::string reason = policy_text(request) + " is for cores that run nothing but the tasks; ";
  const sched::PlatformLoad& load = server.platform;
  if (load.budget != Duration::zero() || load.blocking != Duration::zero() || server.capacity != sched::whole_core)
    return reason + "write budget = \"0us\", blocking = \"0us\" and capacity = 1 below [platform]";
  const bool is_idle =
      std::ranges::all_of(request.cores, [&](CoreId core) { return dispatch::own_loads(server, core).empty(); });
  if (!is_idle || server.overshoot != Duration::zero() || dispatch::spin_of(server) != Duration::zero())
    return reason + "leave out the settings best_effort.server, io.budget, dispatch.overshoot and pool.wait";
  return std::nullopt;
}

// Returns why a WholeSet does not analyze the task.
std::optional<std::string> fault_of_task(const Task& task, const PlanRequest& request) {
  const Contract& contract = task.contract;
  const std::string unknown = ", which " + policy_text(request) + " does not analyze; ";
  if (contract.suspension != Duration::zero() || uses_resources(contract))
    return "task " + task.label + " suspends itself or uses resources" + unknown + "leave out suspension and uses";
  if (contract.deadline > contract.period)
    return "task " + task.label + " has a deadline above its period" + unknown + "lower the deadline";
  if (task.is_high)
    return "task " + task.label + " has high criticality" + unknown + "leave out criticality and budget_high";
  if (request.server.allocation->splits && contract.jitter != Duration::zero())
    return "task " + task.label + " has release jitter" + unknown + "write jitter = \"0us\"";
  return std::nullopt;
}

}  // namespace

std::optional<sched::SporadicTask> sporadic_task_of(const Contract& contract) noexcept {
  const sched::SporadicTask task{.budget = contract.budget.count(),
                                 .period = (contract.period - contract.jitter).count(),
                                 .deadline = (contract.deadline - contract.jitter).count()};
  if (task.budget > task.deadline) return std::nullopt;
  return task;
}

std::unique_ptr<WholeSet> whole_set_for(const dispatch::ExecutiveOptions& server, std::span<const CoreId> cores,
                                        const CustomPolicies* custom, const SlowdownTable* charged) {
  if (charged != nullptr) return std::make_unique<SlowdownSet>(*charged, server, cores);
  if (custom != nullptr) return std::make_unique<CustomSet>(*custom, server, cores);
  if (server.allocation->splits) return std::make_unique<SplitSet>(cores);
  if (!sched::is_global(server.admission_test->scheduling)) return nullptr;
  return std::make_unique<GlobalSet>(*server.admission_test, cores);
}

std::optional<std::string> fault_of_whole_set(const PlanRequest& request) {
  const dispatch::ExecutiveOptions& server = request.server;
  if (request.charged_slowdowns || dispatch::charges_slowdowns(server)) return fault_of_charged(request);
  if (!is_whole_set(request)) return std::nullopt;
  if (auto bad = fault_of_custom(request)) return bad;
  if (auto bad = fault_of_jobs(request)) return bad;
  if (request.spin_locks)
    return "policy.locks = \"msrp\" does not work with " + policy_text(request) + "; leave one out";
  if (!request.chains.empty()) return "chains are not analyzed with " + policy_text(request) + "; leave them out";
  if (server.allocation->splits && server.admission_test->scheduling != sched::Scheduling::deadlines)
    return policy_text(request) + " cuts tasks for cores that run the earliest deadline first; write test = \"qpa\"";
  if (!request.jobs && request.overheads.charge_per_job() > Duration::zero())
    return policy_text(request) + " has no analysis of overheads; write charged = false below [overheads]";
  if (auto bad = fault_of_cores(request)) return bad;
  for (const Task& task : request.tasks)
    if (auto bad = fault_of_task(task, request)) return bad;
  return std::nullopt;
}

}  // namespace corelane::eval
