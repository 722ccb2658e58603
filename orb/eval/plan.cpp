#include "orb/eval/plan.h"

#include <algorithm>
#include <cstdint>

#include "orb/eval/planning/chain_bounds.h"
#include "orb/eval/planning/critical_bounds.h"
#include "orb/eval/planning/growth.h"
#include "orb/eval/planning/idle_server.h"
#include "orb/eval/planning/spin_placement.h"
#include "orb/sched/share.h"

namespace corelane::eval {
namespace {

sched::Ppm utilization_of(const Contract& contract) {
  return sched::ppm_of(sched::share_of(contract.budget.count(), contract.period.count()));
}

// Fills in where the tasks fit if they spin for resources. Returns which ones fit.
std::vector<bool> place(const PlanRequest& request, Plan& plan) {
  SpinPlacement placement(request.server, request.cores);
  std::vector<std::size_t> placed;
  std::vector<bool> flags;
  for (const Task& task : request.tasks) {
    const auto number = placement.admit(task);
    TaskVerdict& verdict =
        plan.tasks.emplace_back(TaskVerdict{.task = task, .utilization = utilization_of(task.contract)});
    verdict.admitted = number.has_value();
    if (number) placed.push_back(flags.size());
    if (!number) verdict.refusal = number.error();
    flags.push_back(verdict.admitted);
  }
  const std::vector<Duration> bounds = placement.bounds();
  for (std::size_t number = 0; number < placed.size(); ++number) {
    plan.tasks[placed[number]].core = placement.core_of(number);
    plan.tasks[placed[number]].bound = bounds[number];
  }
  plan.cores = placement.cores();
  return flags;
}

// Fills in what the server answers. Returns which tasks it has admitted.
std::vector<bool> answer(const PlanRequest& request, Plan& plan) {
  if (request.spin_locks) return place(request, plan);
  IdleServer server(request.server, request.cores);
  std::vector<TaskId> ids;
  for (const Task& task : request.tasks) {
    const auto admitted = server.admit(task.label, task.contract);
    TaskVerdict& verdict =
        plan.tasks.emplace_back(TaskVerdict{.task = task, .utilization = utilization_of(task.contract)});
    verdict.admitted = admitted.has_value();
    if (!admitted) verdict.refusal = admitted.error();
    ids.push_back(admitted ? *admitted : no_task);
  }
  std::vector<bool> flags;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    flags.push_back(ids[i] != no_task);
    if (!flags.back()) continue;
    const auto view = server.manager().find(ids[i]);
    plan.tasks[i].core = view->core;
    plan.tasks[i].priority = view->priority;
    plan.tasks[i].bound = server.bound_of(ids[i]);
  }
  plan.cores = server.manager().cores();
  return flags;
}

bool all_fit(const PlanRequest& request, int cores) {
  const AnsweredSet set{.server = request.server,
                        .cores = numbered_cores(cores),
                        .tasks = request.tasks,
                        .admitted = std::vector<bool>(request.tasks.size(), true),
                        .spin_locks = request.spin_locks};
  return admits_again(set, request.tasks);
}

// Returns a task that does not fit alone on a core, if there is one.
std::optional<std::size_t> hopeless_task(const PlanRequest& request) {
  IdleServer server(request.server, numbered_cores(1));
  for (std::size_t i = 0; i < request.tasks.size(); ++i) {
    if (request.spin_locks) {
      if (!SpinPlacement(request.server, numbered_cores(1)).admit(request.tasks[i])) return i;
      continue;
    }
    const TaskId task = server.try_admit(request.tasks[i].label, request.tasks[i].contract);
    if (task == no_task) return i;
    server.leave(task);
  }
  return std::nullopt;
}

// Returns a number of cores that is not more than the tasks need by their utilization alone.
int least_cores(const Plan& plan, const PlanRequest& request) {
  sched::Ppm sum = 0;
  for (const TaskVerdict& verdict : plan.tasks) sum += verdict.utilization;
  const sched::Ppm capacity = std::max<sched::Ppm>(request.server.capacity, 1);
  return std::max<int>(1, static_cast<int>(std::min<sched::Ppm>(sum / capacity, 1'000'000)));
}

// More cores than tasks do not help, and a server admits max_tasks at most.
void find_fewest(const PlanRequest& request, Plan& plan) {
  if (request.tasks.size() > request.server.max_tasks) return;
  plan.hopeless = hopeless_task(request);
  if (plan.hopeless) return;
  const int most = static_cast<int>(std::min<std::size_t>(request.tasks.size(), INT16_MAX));
  for (int cores = least_cores(plan, request); cores <= most && !plan.fewest_cores; ++cores)
    if (all_fit(request, cores)) plan.fewest_cores = cores;
}

}  // namespace

std::vector<CoreId> numbered_cores(int count) {
  std::vector<CoreId> cores;
  for (int i = 0; i < count; ++i) cores.push_back(CoreId{static_cast<std::int16_t>(i)});
  return cores;
}

Plan plan(const PlanRequest& request) {
  Plan plan;
  plan.promises = request.server.admission_test->promises;
  const AnsweredSet set{.server = request.server,
                        .cores = request.cores,
                        .tasks = request.tasks,
                        .admitted = answer(request, plan),
                        .spin_locks = request.spin_locks};
  plan.refused = static_cast<std::size_t>(std::ranges::count(set.admitted, false));
  plan.chains = chain_verdicts(request, plan);
  bound_high_modes(request, plan);
  if (!plan.promises) return plan;
  if (request.fewest) find_fewest(request, plan);
  if (!request.sensitivity) return plan;
  plan.growth = largest_growth(set);
  for (std::size_t i = 0; i < plan.tasks.size(); ++i)
    if (set.admitted[i]) plan.tasks[i].largest_budget = largest_budget(set, i);
  return plan;
}

bool holds(const Plan& plan) {
  return plan.refused == 0 && std::ranges::all_of(plan.chains, &ChainVerdict::holds) &&
         std::ranges::all_of(plan.tasks, [](const TaskVerdict& verdict) { return !verdict.high || verdict.high->holds; });
}

}  // namespace corelane::eval
