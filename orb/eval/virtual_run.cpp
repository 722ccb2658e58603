#include "orb/eval/virtual_run.h"

#include <algorithm>
#include <cassert>
#include <chrono>
#include <cstddef>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "orb/base/contract.h"
#include "orb/dispatch/budget_charge.h"
#include "orb/dispatch/manager_options.h"
#include "orb/eval/experiment/job_account.h"
#include "orb/eval/experiment/whole_set_run.h"
#include "orb/eval/generate/random_source.h"
#include "orb/eval/planning/custom_policies.h"
#include "orb/eval/planning/slowdown_set.h"
#include "orb/sched/core_allocator.h"
#include "orb/sched/priority.h"
#include "orb/sched/refusal.h"
#include "orb/sim/baselines/leader_followers_model.h"
#include "orb/sim/simulator.h"

namespace corelane::eval {
namespace {

using namespace std::chrono_literals;

std::vector<dispatch::CoreLease> simulated_leases(const std::vector<CoreId>& cores) {
  std::vector<dispatch::CoreLease> leases;
  for (const CoreId core : cores) leases.push_back({.core = core, .physical_core = core.value});
  return leases;
}

// Returns when the run starts. Until then the cores are idle, so that tasks that have to move do so. The platform load
// comes at the start.
Duration start_of_run(const dispatch::ExecutiveOptions& server) {
  constexpr Duration settling = 10ms;
  const Duration period = server.platform.period;
  return period > Duration::zero() ? period * (settling / period + 2) : settling;
}

// `overheads`: what the analysis adds to the budget for them. `by_server`: what the server adds.
sim::TaskPlan task_plan(const Task& task, Duration start, Duration overheads, const dispatch::BudgetCharge& by_server) {
  sim::TaskPlan plan{.contract = task.contract, .first_release = Time{start}};
  plan.contract.budget += overheads;
  by_server.lengthen(plan.contract, task.label);  // the Manager refuses what is unsound
  const Duration budget = task.contract.budget;
  plan.sleeps_for = task.contract.suspension;
  plan.sleeps_after = budget / 2;
  plan.locks_for = task.contract.uses[0].longest;
  plan.locks_after = (budget - plan.locks_for) / 2;
  return plan;
}

// Makes the tasks slow each other down as the request says.
void slow_down(const RunRequest& request, sim::Simulator& simulator) {
  if (request.slowdowns.is_empty()) return;
  std::vector<SlowdownTable::Row> rows;
  for (const Task& task : request.tasks) rows.push_back(request.slowdowns.row_of(task));
  simulator.use_slowdown([&table = request.slowdowns, rows = std::move(rows)](std::size_t plan, std::size_t beside) {
    return table.factor(rows[plan], rows[beside]);
  });
}

using IsToStop = std::function<bool()>;

// Gives the tasks the cores and budgets with which a SlowdownSet admits them. The others never ask; their outcomes get
// the refusal. `server` is charged already. Returns false if it ended early.
bool charge_slowdowns(const RunRequest& request, const dispatch::ExecutiveOptions& server,
                      const RunOverheads& overheads, const IsToStop& is_to_stop, std::vector<sim::TaskPlan>& plans,
                      std::vector<TaskOutcome>& outcomes) {
  std::vector<Task> tasks = request.tasks;
  charge(overheads, tasks);
  SlowdownSet set(request.slowdowns, server, request.cores);
  std::vector<std::size_t> admitted;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (is_to_stop && is_to_stop()) return false;
    plans[i].proposed = never;
    if (set.admits(tasks[i]))
      admitted.push_back(i);
    else
      outcomes[i].refusal = reason_of(set.refusal(), set.refusal_note());
  }
  for (std::size_t number = 0; number < admitted.size(); ++number) {
    TaskVerdict verdict;
    set.describe(number, verdict);
    sim::TaskPlan& plan = plans[admitted[number]];
    plan.proposed = {};
    plan.core = verdict.core;
    plan.contract.budget = *verdict.charged_budget + dispatch::spin_of(server);
  }
  return true;
}

// A task that never asked has its refusal already. The bound is that of the tasks that run together. While tasks moved,
// before the run, it was larger.
void report_task(const sim::TaskReport& report, const sched::Manager& manager, TaskOutcome& task) {
  task.admitted = report.admitted && !report.evicted;
  if (!task.admitted) {
    if (report.answered || task.refusal.empty()) task.refusal = sched::text_of(report.refusal);
    return;
  }
  task.core = report.core;
  if (const auto view = manager.find(report.task)) task.bound = view->response;
  task.overruns = report.overruns;
}

// Returns false if the run ended early.
bool run_under_manager(const RunRequest& request, sim::JobObserver* observer, const IsToStop& is_to_stop,
                       RunOutcome& outcome) {
  const RunOverheads overheads = overheads_in(request.dispatcher->mode, request.overheads);
  dispatch::ExecutiveOptions server = server_under(*request.dispatcher, request.server);
  charge(overheads, server);
  const Duration start = start_of_run(server);
  JobAccount account(request, start, observer);
  account.lengthen(overheads.per_job());
  const std::vector<dispatch::CoreLease> leases = simulated_leases(request.cores);
  sim::Simulator simulator(dispatch::manager_options(server, leases), request.seed);
  for (const CoreId core : request.cores)
    if (const auto loads = dispatch::own_loads(server, core); !loads.empty())
      simulator.manager().set_interference(core, loads);
  simulator.allow_early(server.early_jobs);
  slow_down(request, simulator);
  if (server.overshoot > Duration::zero()) simulator.use_firm_timers(server.overshoot);
  simulator.use_jobs(account);
  simulator.observe(account);
  const dispatch::BudgetCharge by_server(server, leases);
  std::vector<sim::TaskPlan> plans;
  for (const Task& task : request.tasks) plans.push_back(task_plan(task, start, overheads.charge_per_job(), by_server));
  if (request.charge_slowdowns && request.dispatcher->refuses) {
    if (!charge_slowdowns(request, server, overheads, is_to_stop, plans, outcome.tasks)) return false;
    simulator.manager().set_repack(false);
  }
  if (request.dispatcher->refuses && (request.charge_slowdowns || dispatch::charges_slowdowns(server)))
    outcome.notes.emplace_back(charged_slowdowns_note);
  for (const sim::TaskPlan& plan : plans) simulator.add(plan);
  simulator.stop_when(is_to_stop);
  simulator.run(Time{start + request.length});
  for (std::size_t i = 0; i < request.tasks.size(); ++i) {
    const sim::TaskReport& report = simulator.report(i);
    report_task(report, simulator.manager(), outcome.tasks[i]);
    if (report.admitted && report.started > Time{start})
      outcome.notes.push_back(outcome.tasks[i].label + " could not start with the others, since tasks had to move");
  }
  outcome.trace_hash = simulator.trace_hash();
  account.close(outcome);
  return !simulator.stopped();
}

sim::LeaderFollowersForm form_of(TaskPlacement placement) {
  if (placement == TaskPlacement::round_robin) return sim::LeaderFollowersForm::pinned;
  if (placement == TaskPlacement::allocated) return sim::LeaderFollowersForm::allocated;
  return placement == TaskPlacement::first_core ? sim::LeaderFollowersForm::single_core
                                                : sim::LeaderFollowersForm::unbound;
}

// Returns the tasks with the priorities that a server gives them: distinct ones, by D - J.
std::vector<sim::MulticoreTask> prioritized(const std::vector<Task>& tasks) {
  std::vector<std::size_t> order(tasks.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto rank = [&](std::size_t i) {
    const Contract& contract = tasks[i].contract;
    return sched::Rank{
        .urgency = (contract.deadline - contract.jitter).count(), .importance = contract.importance, .age = i};
  };
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) { return sched::before(rank(a), rank(b)); });
  std::vector<sim::MulticoreTask> result(tasks.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    result[order[i]] = {.deadline = tasks[order[i]].contract.deadline,
                        .priority = Priority{static_cast<std::int32_t>(order.size() - i)}};
  return result;
}

// Gives each task a core as a server does. `tasks` are those of the request.
void allocate(const RunRequest& request, std::vector<sim::MulticoreTask>& tasks) {
  sched::CoreAllocator allocator(*server_under(*request.dispatcher, request.server).allocation, request.cores.size());
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const Contract& contract = request.tasks[i].contract;
    const std::size_t core = allocator.core_for(contract);
    allocator.add(core, contract);
    tasks[i].core = CoreId{static_cast<std::int16_t>(core)};
  }
}

// Returns what a job costs. A thread that moves itself to the core of the task pays that instead of a hand-off.
sim::Overheads costs_under(const Dispatcher& dispatcher, const RunOverheads& overheads) {
  sim::Overheads costs = overheads_in(dispatcher.mode, overheads).costs;
  if (dispatcher.placement == TaskPlacement::allocated) costs.hop = costs.migration;
  return costs;
}

bool suspends_or_locks(const Task& task) {
  return task.contract.suspension > Duration::zero() || uses_resources(task.contract);
}

// Returns false if the run ended early.
bool run_leader_followers(const RunRequest& request, sim::JobObserver* observer, const IsToStop& is_to_stop,
                          RunOutcome& outcome) {
  const sched::PlatformLoad& load = request.server.platform;
  JobAccount account(request, {}, observer);
  account.rename_cores();
  account.add_load(load);
  sim::MulticoreOptions options{.cores = static_cast<std::int32_t>(request.cores.size()),
                                .overheads = costs_under(*request.dispatcher, request.overheads),
                                .seed = request.seed};
  std::vector<sim::MulticoreTask> tasks = prioritized(request.tasks);
  if (request.dispatcher->placement == TaskPlacement::allocated) allocate(request, tasks);
  sim::use_leader_followers(form_of(request.dispatcher->placement), options, tasks);
  for (std::size_t i = 0; i < request.tasks.size(); ++i) {
    outcome.tasks[i].admitted = true;
    if (options.cluster == 1) outcome.tasks[i].core = request.cores[static_cast<std::size_t>(tasks[i].core.value)];
  }
  if (load.budget > Duration::zero() && load.period > Duration::zero())
    for (std::int16_t core = 0; core < static_cast<std::int16_t>(request.cores.size()); ++core)
      tasks.push_back(
          {.deadline = load.period, .priority = sim::platform_priority, .core = CoreId{core}, .is_load = true});
  sim::MulticoreSimulator simulator(options, tasks, account, &account);
  simulator.stop_when(is_to_stop);
  simulator.run(Time{request.length});
  outcome.trace_hash = simulator.trace_hash();
  if (std::ranges::any_of(request.tasks, suspends_or_locks))
    outcome.notes.push_back("under " + std::string(request.dispatcher->name) +
                            " suspensions and locks of tasks are not simulated");
  account.close(outcome);
  return !simulator.stopped();
}

}  // namespace

RunOutcome run_virtually(const RunRequest& request, sim::JobObserver* observer) {
  return *run_virtually(request, observer, {});
}

std::optional<RunOutcome> run_virtually(const RunRequest& request, sim::JobObserver* observer,
                                        const std::function<bool()>& is_to_stop) {
  assert(request.dispatcher != nullptr && !request.cores.empty());
  RunOutcome outcome;
  for (const Task& task : request.tasks) outcome.tasks.emplace_back().label = task.label;
  const auto set = request.dispatcher->refuses ? whole_set_for(request.server, request.cores, request.custom) : nullptr;
  const bool is_whole = set ? run_whole_set(request, *set, observer, is_to_stop, outcome)
                        : request.dispatcher->placement == TaskPlacement::by_manager
                            ? run_under_manager(request, observer, is_to_stop, outcome)
                            : run_leader_followers(request, observer, is_to_stop, outcome);
  if (!is_whole) return std::nullopt;
  if (!request.slowdowns.is_empty() && (set || request.dispatcher->placement != TaskPlacement::by_manager))
    outcome.notes.push_back("slowdowns have no effect under " + std::string(request.dispatcher->name) +
                            (set ? " with this policy" : ""));
  if (set && request.custom != nullptr && request.server.repack) outcome.notes.emplace_back(unmoved_note);
  return outcome;
}

std::uint64_t run_seed(const Scenario& scenario, std::int64_t set) {
  return random_of(static_cast<std::uint64_t>(scenario.seed), static_cast<std::uint64_t>(set), Purpose::jobs)();
}

}  // namespace corelane::eval
