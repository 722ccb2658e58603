#include "orb/eval/task_set.h"

#include <algorithm>
#include <cstddef>

#include "orb/eval/generate/random_source.h"
#include "orb/eval/generate/requests.h"
#include "orb/eval/scenario/checks.h"
#include "orb/sched/share.h"
#include "orb/sched/task_order.h"

namespace corelane::eval {
namespace {

// Returns a part of a duration, rounded down.
Duration part_of(Duration duration, Fraction fraction) {
  return Duration{static_cast<std::int64_t>(sched::Wide{duration.count()} * fraction.millionths / unity.millionths)};
}

// The budget is rounded down, but is at least 1 ns.
Contract drawn_contract(sched::Share utilization, Duration period, const Generator& generator) {
  const auto budget = static_cast<std::int64_t>(sched::Wide{utilization} * period.count() / sched::whole_share);
  Contract contract{.period = period, .budget = Duration{std::max<std::int64_t>(budget, 1)}};
  contract.deadline = std::max(contract.budget, part_of(period, generator.deadline));
  contract.jitter = part_of(std::min(period, contract.deadline), generator.jitter);
  return contract;
}

void add_listed(const Scenario& scenario, std::vector<Task>& tasks) {
  for (std::size_t i = 0; i < scenario.tasks.size(); ++i) {
    const ListedTask& listed = scenario.tasks[i];
    const std::string label = listed.label.empty() ? "task-" + std::to_string(i + 1) : listed.label;
    for (std::int64_t copy = 1; copy <= listed.count; ++copy)
      tasks.push_back({.label = listed.count == 1 ? label : label + "-" + std::to_string(copy),
                       .contract = contract_of(listed),
                       .offset = listed.offset});
  }
}

void sort_by(const Policy& policy, std::vector<Task>& tasks) {
  const sched::TaskOrder* const order = find_named(sched::task_orders(), policy.order);
  if (order == nullptr) return;
  std::ranges::stable_sort(tasks, order->before, &Task::contract);
}

// Returns false if the generator gave up.
bool add_drawn(const Generator& generator, Random random, std::vector<Task>& tasks) {
  const auto shares = utilization_generator(generator.utilizations)->draw(random, utilization_request_of(generator));
  if (shares.empty()) return false;
  const PeriodDistribution& periods = *period_distribution(generator.periods);
  const PeriodRequest request = period_request_of(generator);
  for (std::size_t i = 0; i < shares.size(); ++i)
    tasks.push_back({.label = "drawn-" + std::to_string(i + 1),
                     .contract = drawn_contract(shares[i], periods.draw(random, request), generator)});
  return true;
}

}  // namespace

Expected<std::vector<Task>, ScenarioFault> tasks_of(const Scenario& scenario, std::int64_t set) {
  std::vector<Task> tasks;
  add_listed(scenario, tasks);
  if (!scenario.generate) return sort_by(scenario.policy, tasks), tasks;
  const Random random = random_of(static_cast<std::uint64_t>(scenario.seed), static_cast<std::uint64_t>(set));
  if (add_drawn(*scenario.generate, random, tasks)) return sort_by(scenario.policy, tasks), tasks;
  return ScenarioFault{"generate.utilizations = \"" + scenario.generate->utilizations +
                       "\" found no set within the limits of a task; use utilizations = \"randfixedsum\", or widen "
                       "utilization_min and utilization_max"};
}

}  // namespace corelane::eval
