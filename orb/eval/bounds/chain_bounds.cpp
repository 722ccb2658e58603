#include "orb/eval/bounds/chain_bounds.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>

#include "orb/eval/bounds/placed_tasks.h"
#include "orb/sched/analysis/holistic.h"

namespace corelane::eval {
namespace {

using sched::ChainedTask;
using sched::Ticks;

constexpr Ticks longest_end = 64 * longest_period.count();  // a later one counts as none

std::optional<std::size_t> index_of(const Plan& plan, const std::string& label) {
  for (std::size_t i = 0; i < plan.tasks.size(); ++i)
    if (plan.tasks[i].task.label == label) return i;
  return std::nullopt;
}

// Returns the least time for which a job executes; 0 if the scenario gives no range.
Ticks shortest_execution_of(const Task& task) {
  const Execution& execution = task.execution;
  const bool is_range = execution.trace.empty() && execution.least < execution.most;
  return is_range ? std::min(part_of(task.contract.budget, execution.least), task.contract.budget).count() : 0;
}

ChainedTask chained_task(const PlacedTask& placed, const Task& task) {
  return {.core = placed.core,
          .priority = placed.priority,
          .longest = placed.budget + placed.overshoot,
          .shortest = shortest_execution_of(task),
          .period = task.contract.period.count(),
          .jitter = placed.jitter,
          .blocking = placed.blocking,
          .suspension = placed.suspension,
          .least_jitter = placed.interfering_jitter};
}

// Adds the loads, which have higher priorities than all tasks.
void add_loads(const PlacedSet& set, std::vector<ChainedTask>& tasks) {
  for (const auto& [core, loads] : set.loads)
    for (const sched::Interference& load : loads)
      tasks.push_back({.core = core,
                       .priority = std::numeric_limits<int>::max(),
                       .longest = load.budget,
                       .period = load.period,
                       .jitter = load.jitter});
}

// Returns the latest end of each task of the plan if each job of a chain is released at once. Nothing: no bound.
std::vector<std::optional<Duration>> direct_ends(const PlanRequest& request, const Plan& plan,
                                                 const std::vector<ChainVerdict>& chains) {
  std::vector<std::optional<Duration>> ends(plan.tasks.size());
  if (!has_priorities(plan)) return ends;
  const PlacedSet set = placed_set(request, plan);
  std::vector<ChainedTask> tasks;
  std::vector<std::optional<std::size_t>> places(plan.tasks.size());
  for (const PlacedTask& placed : set.tasks) {
    places[placed.task] = tasks.size();
    tasks.push_back(chained_task(placed, plan.tasks[placed.task].task));
  }
  for (const ChainVerdict& chain : chains)
    for (std::size_t i = 1; i < chain.tasks.size(); ++i)
      if (const auto place = places[chain.tasks[i]]) tasks[*place].released_by = places[chain.tasks[i - 1]];
  add_loads(set, tasks);
  const auto found = sched::holistic_responses(tasks, {.stop_above = longest_end});
  for (std::size_t i = 0; i < ends.size(); ++i)
    if (places[i] && found[*places[i]].end != sched::endless) ends[i] = Duration{found[*places[i]].end};
  return ends;
}

// Returns the sum of the bounds; nothing if one is missing.
std::optional<Duration> guarded_end(const Plan& plan, const ChainVerdict& chain) {
  Duration sum{};
  for (const std::size_t task : chain.tasks) {
    const TaskVerdict& verdict = plan.tasks[task];
    if (!verdict.admitted || verdict.bound == Duration::zero()) return std::nullopt;
    sum += verdict.bound;
  }
  return sum;
}

ChainVerdict open_verdict(const Plan& plan, const Chain& chain, std::size_t number) {
  ChainVerdict verdict{.label = chain.label.empty() ? "chain-" + std::to_string(number + 1) : chain.label,
                       .deadline = chain.deadline};
  for (const std::string& label : chain.tasks)
    if (const auto index = index_of(plan, label)) verdict.tasks.push_back(*index);
  return verdict;
}

}  // namespace

std::vector<ChainVerdict> chain_verdicts(const PlanRequest& request, const Plan& plan) {
  if (request.chains.empty()) return {};
  std::vector<ChainVerdict> chains;
  for (std::size_t i = 0; i < request.chains.size(); ++i) chains.push_back(open_verdict(plan, request.chains[i], i));
  const auto ends = direct_ends(request, plan, chains);
  for (ChainVerdict& chain : chains) {
    chain.bound = guarded_end(plan, chain);
    if (chain.bound) chain.direct = ends[chain.tasks.back()];
    chain.holds = chain.bound && (!chain.deadline || *chain.bound <= *chain.deadline);
  }
  return chains;
}

}  // namespace corelane::eval
