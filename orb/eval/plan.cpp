#include "orb/eval/plan.h"

#include <algorithm>
#include <cstdint>

#include "orb/dispatch/budget_charge.h"
#include "orb/eval/bounds/chain_bounds.h"
#include "orb/eval/bounds/critical_bounds.h"
#include "orb/eval/planning/admitter.h"
#include "orb/eval/planning/custom_policies.h"
#include "orb/eval/planning/growth.h"
#include "orb/eval/planning/idle_server.h"
#include "orb/eval/planning/job_admission.h"
#include "orb/eval/planning/spin_placement.h"
#include "orb/eval/planning/whole_set.h"
#include "orb/sched/admission_test.h"
#include "orb/sched/share.h"

namespace corelane::eval {
namespace {

sched::Ppm utilization_of(const Contract& contract) {
  return sched::ppm_of(sched::share_of(contract.budget.count(), contract.period.count()));
}

void tell(const PlanRequest& request, PlanProgress::Stage stage, std::size_t done, std::size_t all) {
  if (request.tell) request.tell({.stage = stage, .done = done, .all = all});
}

void tell_of_admission(const PlanRequest& request, const Plan& plan) {
  tell(request, PlanProgress::Stage::admission, plan.tasks.size(), request.tasks.size());
}

TaskVerdict& add_verdict(const Task& task, Plan& plan) {
  return plan.tasks.emplace_back(TaskVerdict{.task = task, .utilization = utilization_of(task.contract)});
}

// Fills in what the set answers. Returns which tasks it has admitted.
std::vector<bool> answer(const PlanRequest& request, WholeSet& set, Plan& plan) {
  std::vector<bool> flags;
  for (const Task& task : request.tasks) {
    flags.push_back(set.admits(task));
    TaskVerdict& verdict = add_verdict(task, plan);
    verdict.admitted = flags.back();
    if (!verdict.admitted) {
      verdict.refusal = set.refusal();
      verdict.refusal_note = set.refusal_note();
    }
    tell_of_admission(request, plan);
  }
  std::size_t number = 0;
  for (TaskVerdict& verdict : plan.tasks)
    if (verdict.admitted) set.describe(number++, verdict);
  plan.cores = set.cores();
  plan.is_global = sched::is_global(request.server.admission_test->scheduling);
  return flags;
}

// Fills in which jobs are admitted. Returns the tasks of which all are.
std::vector<bool> answer_jobs(const PlanRequest& request, Plan& plan) {
  for (const Task& task : request.tasks) add_verdict(task, plan);
  answer_by_jobs(request, plan);
  for (const CoreId core : request.cores) plan.cores.push_back({.id = core, .capacity = sched::whole_core});
  std::vector<bool> flags;
  for (const TaskVerdict& verdict : plan.tasks) flags.push_back(verdict.admitted);
  return flags;
}

// Fills in where the tasks fit if they spin for resources. Returns which ones fit.
std::vector<bool> place(const PlanRequest& request, Plan& plan) {
  SpinPlacement placement(request.server, request.cores);
  std::vector<std::size_t> placed;
  std::vector<bool> flags;
  for (const Task& task : request.tasks) {
    const auto number = placement.admit(task);
    TaskVerdict& verdict = add_verdict(task, plan);
    verdict.admitted = number.has_value();
    if (number) placed.push_back(flags.size());
    if (!number) verdict.refusal = number.error();
    tell_of_admission(request, plan);
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

// Fills in with which budget the server has analyzed the task.
void describe_charge(const dispatch::BudgetCharge& by_server, TaskVerdict& verdict) {
  verdict.slowdown = by_server.factor_of(verdict.task.label);
  verdict.charged_budget = dispatch::slowed(verdict.task.contract.budget, verdict.slowdown);
}

// Fills in what the server answers. Returns which tasks it has admitted.
std::vector<bool> answer(const PlanRequest& request, Plan& plan) {
  if (request.jobs) return answer_jobs(request, plan);
  if (request.spin_locks) return place(request, plan);
  const SlowdownTable* const charged = request.charged_slowdowns ? &*request.charged_slowdowns : nullptr;
  if (const auto set = whole_set_for(request.server, request.cores, request.custom, charged))
    return answer(request, *set, plan);
  IdleServer server(request.server, request.cores);
  std::vector<TaskId> ids;
  for (const Task& task : request.tasks) {
    const auto admitted = server.admit(task.label, task.contract);
    TaskVerdict& verdict = add_verdict(task, plan);
    verdict.admitted = admitted.has_value();
    if (!admitted) verdict.refusal = admitted.error();
    tell_of_admission(request, plan);
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
    if (dispatch::charges_slowdowns(request.server)) describe_charge(server.charge(), plan.tasks[i]);
  }
  plan.cores = server.manager().cores();
  return flags;
}

bool all_fit(const PlanRequest& request, int cores) {
  AnsweredSet set{.request = request,
                  .cores = numbered_cores(cores),
                  .admitted = std::vector<bool>(request.tasks.size(), true),
                  .chains = std::vector<bool>(request.chains.size(), true)};
  for (const Task& task : request.tasks) set.high.push_back(task.is_high);
  return holds_again(set, request.tasks);
}

// Returns the part of the utilization that is admitted, rounded down.
sched::Ppm accepted_part(const Plan& plan) {
  sched::Wide asked = 0, accepted = 0;  // of the utilization; accepted times whole_core
  for (const TaskVerdict& verdict : plan.tasks) {
    asked += verdict.utilization;
    accepted +=
        sched::Wide{verdict.utilization} * verdict.jobs_admitted.value_or(verdict.admitted ? sched::whole_core : 0);
  }
  return asked == 0 ? sched::whole_core : static_cast<sched::Ppm>(accepted / asked);
}

// Returns a task that does not fit alone on a core, if there is one.
std::optional<std::size_t> hopeless_task(const PlanRequest& request) {
  const auto admitter = admitter_for(request, numbered_cores(1));
  for (std::size_t i = 0; i < request.tasks.size(); ++i) {
    admitter->clear();
    if (!admitter->admits(request.tasks[i])) return i;
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
  for (int cores = least_cores(plan, request); cores <= most && !plan.fewest_cores; ++cores) {
    if (all_fit(request, cores)) plan.fewest_cores = cores;
    tell(request, PlanProgress::Stage::cores, static_cast<std::size_t>(cores), static_cast<std::size_t>(most));
  }
}

// Takes the overheads out of what the refusal of a task says about contracts. The contract has them.
void uncharge(Duration per_job, CoreId first_core, const Contract& contract, sched::Refusal& refusal) {
  if (refusal.code == sched::RefusalCode::bad_contract && !is_sound(contract))
    refusal = {.code = sched::RefusalCode::not_schedulable,
               .closest = first_core,
               .response = contract.budget + contract.suspension,
               .deadline = contract.deadline};
  sched::Nearest& nearest = refusal.nearest;
  if (!nearest.found()) return;
  nearest.budget -= per_job;
  Duration least{1};  // a budget may not be shorter than a section
  for (const ResourceUse& use : contract.uses) least = std::max(least, use.longest);
  if (nearest.budget >= least) return;
  nearest = {};
  refusal.unproposed = sched::Unproposed::nothing_fits;
}

// Takes the overheads out of a budget that slowdowns have lengthened. The note says that the lengthened one has them.
void uncharge_slowed(Duration per_job, sched::SlowedBudget& slowed, std::string& note) {
  if (slowed.asked <= per_job) return;  // slowdowns have lengthened no budget
  slowed.asked -= per_job;
  note = "the analyzed budget also includes " + to_string(per_job) + " of charged overheads";
}

// Takes the overheads out of all budgets. They are charged again when a task is planned with one of these.
void uncharge(Duration per_job, const std::vector<Task>& asked, Plan& plan) {
  for (std::size_t i = 0; i < plan.tasks.size(); ++i) {
    TaskVerdict& verdict = plan.tasks[i];
    if (!verdict.admitted) {
      uncharge(per_job, plan.cores.front().id, verdict.task.contract, verdict.refusal);
      uncharge_slowed(per_job, verdict.refusal.slowed, verdict.refusal_note);
      uncharge_slowed(per_job, verdict.refusal.loser_slowed, verdict.refusal_note);
    }
    verdict.task = asked[i];
    if (verdict.largest_budget) *verdict.largest_budget -= per_job;
  }
}

// Plans tasks whose budgets have all that is charged; `per_job` of it are overheads.
Plan plan_charged(const PlanRequest& request, Duration per_job) {
  Plan plan;
  plan.promises = request.server.admission_test->promises;
  AnsweredSet set{.request = request, .cores = request.cores, .admitted = answer(request, plan), .per_job = per_job};
  plan.refused = static_cast<std::size_t>(std::ranges::count(set.admitted, false));
  plan.accepted = accepted_part(plan);
  plan.chains = chain_verdicts(request, plan);
  bound_high_modes(request, plan);
  for (const ChainVerdict& chain : plan.chains) set.chains.push_back(chain.holds);
  for (const TaskVerdict& verdict : plan.tasks) set.high.push_back(verdict.high && verdict.high->holds);
  if (!plan.promises || request.jobs || request.custom != nullptr) return plan;
  if (request.fewest) find_fewest(request, plan);
  if (!request.sensitivity) return plan;
  plan.growth = largest_growth(set);
  for (std::size_t i = 0; i < plan.tasks.size(); ++i) {
    if (set.admitted[i]) plan.tasks[i].largest_budget = largest_budget(set, i);
    tell(request, PlanProgress::Stage::growth, i + 1, plan.tasks.size());
  }
  return plan;
}

}  // namespace

std::vector<CoreId> numbered_cores(int count) {
  std::vector<CoreId> cores;
  for (int i = 0; i < count; ++i) cores.push_back(CoreId{static_cast<std::int16_t>(i)});
  return cores;
}

std::string reason_of(const sched::Refusal& refusal, const std::string& note) {
  return sched::text_of(refusal) + (note.empty() ? "" : "; " + note);
}

std::optional<std::string> fault_of(const PlanRequest& request) { return fault_of_whole_set(request); }

Plan plan(const PlanRequest& request) {
  PlanRequest charged = request;
  const RunOverheads overheads = overheads_in(request.server.mode, request.overheads);
  charge(overheads, charged.tasks);
  charge(overheads, charged.server);
  charged.overheads = {};
  const Duration per_job = overheads.charge_per_job();
  Plan plan = plan_charged(charged, per_job);
  if (per_job > Duration::zero()) uncharge(per_job, request.tasks, plan);
  if (request.charged_slowdowns || dispatch::charges_slowdowns(request.server))
    plan.notes.emplace_back(charged_slowdowns_note);
  if (request.custom != nullptr && request.server.repack) plan.notes.emplace_back(unmoved_note);
  return plan;
}

bool holds(const Plan& plan) {
  return plan.refused == 0 && std::ranges::all_of(plan.chains, &ChainVerdict::holds) &&
         std::ranges::all_of(plan.tasks,
                             [](const TaskVerdict& verdict) { return !verdict.high || verdict.high->holds; });
}

}  // namespace corelane::eval
