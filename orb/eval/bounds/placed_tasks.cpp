#include "orb/eval/bounds/placed_tasks.h"

#include <algorithm>
#include <utility>

#include "orb/base/contract.h"
#include "orb/dispatch/core_provider.h"
#include "orb/dispatch/manager_options.h"

namespace corelane::eval {
namespace {

using sched::Ticks;

// What the platform runs on a core.
struct PlatformOnCore {
  std::vector<sched::Interference> loads;
  Ticks blocking = 0;
};

PlatformOnCore platform_on(const dispatch::ExecutiveOptions& options, CoreId core) {
  const std::vector<dispatch::CoreLease> lease{{.core = core, .physical_core = core.value}};
  std::vector<sched::PlatformLoad> loads = dispatch::own_loads(options, core);
  loads.insert(loads.begin(), dispatch::manager_options(options, lease).cores.front().load);
  PlatformOnCore platform;
  for (const sched::PlatformLoad& load : loads) {
    platform.blocking = std::max(platform.blocking, load.blocking.count());
    if (load.budget > Duration::zero() && load.period > Duration::zero())
      platform.loads.push_back({load.budget.count(), load.period.count(), load.jitter.count()});
  }
  return platform;
}

PlacedTask placed_task(const PlanRequest& request, const TaskVerdict& verdict, std::size_t index) {
  const Contract& contract = verdict.task.contract;
  PlacedTask placed{.task = index, .core = verdict.core.value, .priority = verdict.priority.value};
  placed.budget = (contract.budget + dispatch::spin_of(request.server)).count();
  placed.suspension = contract.suspension.count();
  placed.jitter = contract.jitter.count();
  placed.interfering_jitter =
      placed.suspension > 0 ? std::max(placed.jitter, contract.deadline.count() - placed.budget) : placed.jitter;
  if (is_enforced(contract, request.server.charge_overruns))
    for (const ResourceUse& use : contract.uses) placed.overshoot = std::max(placed.overshoot, use.longest.count());
  return placed;
}

// Returns the priority of the most urgent task of a core that uses the resource.
int ceiling_on(const PlacedSet& set, const Plan& plan, int core, ResourceId resource) {
  int ceiling = 0;
  for (const PlacedTask& other : set.tasks)
    for (const ResourceUse& use : plan.tasks[other.task].task.contract.uses)
      if (other.core == core && use.resource == resource) ceiling = std::max(ceiling, other.priority);
  return ceiling;
}

// Returns the longest section of another task that may keep the task from starting. A task that may be demoted inside a
// section counts as less urgent than all others.
Ticks blocking_by_resources(const PlacedSet& set, const Plan& plan, const PlacedTask& task) {
  Ticks longest = 0;
  for (const PlacedTask& other : set.tasks) {
    const bool may_block =
        other.core == task.core && other.task != task.task && (other.priority < task.priority || other.overshoot > 0);
    if (!may_block) continue;
    for (const ResourceUse& use : plan.tasks[other.task].task.contract.uses)
      if (use.resource != no_resource && ceiling_on(set, plan, task.core, use.resource) >= task.priority)
        longest = std::max(longest, use.longest.count());
  }
  return longest;
}

}  // namespace

bool has_priorities(const Plan& plan) {
  return std::ranges::all_of(plan.cores,
                             [](const sched::CoreView& core) { return core.order == sched::CoreOrder::priority; }) &&
         std::ranges::none_of(plan.tasks, [](const TaskVerdict& verdict) {
           return verdict.admitted && verdict.priority == best_effort;
         });
}

PlacedSet placed_set(const PlanRequest& request, const Plan& plan) {
  PlacedSet set;
  for (std::size_t i = 0; i < plan.tasks.size(); ++i)
    if (plan.tasks[i].admitted) set.tasks.push_back(placed_task(request, plan.tasks[i], i));
  std::map<int, Ticks> blocking;
  for (const CoreId core : request.cores) {
    PlatformOnCore platform = platform_on(request.server, core);
    blocking[core.value] = platform.blocking;
    set.loads[core.value] = std::move(platform.loads);
  }
  for (PlacedTask& task : set.tasks) task.blocking = blocking[task.core] + blocking_by_resources(set, plan, task);
  return set;
}

}  // namespace corelane::eval
