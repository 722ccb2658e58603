#include "orb/eval/task_set.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <span>
#include <utility>

#include "orb/eval/generate/random_source.h"
#include "orb/eval/generate/requests.h"
#include "orb/eval/scenario/checks.h"
#include "orb/sched/share.h"
#include "orb/sched/task_order.h"

namespace corelane::eval {
namespace {

// The budget is rounded down, but is at least 1 ns.
Contract drawn_contract(sched::Share utilization, Duration period, const Generator& generator) {
  const auto budget = static_cast<std::int64_t>(sched::Wide{utilization} * period.count() / sched::whole_share);
  Contract contract{.period = period, .budget = Duration{std::max<std::int64_t>(budget, 1)}};
  contract.deadline = std::max(contract.budget, part_of(period, generator.deadline));
  contract.jitter = part_of(std::min(period, contract.deadline), generator.jitter);
  return contract;
}

// Repeats each listed task as often as its count says. Each copy has a count of 1 and a label of its own.
std::vector<ListedTask> one_by_one(const Scenario& scenario) {
  std::vector<ListedTask> all;
  for (std::size_t i = 0; i < scenario.tasks.size(); ++i) {
    ListedTask task = scenario.tasks[i];
    const std::string label = task.label.empty() ? "task-" + std::to_string(i + 1) : task.label;
    const std::int64_t count = std::exchange(task.count, 1);
    for (std::int64_t copy = 1; copy <= count; ++copy) {
      task.label = count == 1 ? label : label + "-" + std::to_string(copy);
      all.push_back(task);
    }
  }
  return all;
}

void add_listed(const Scenario& scenario, std::vector<Task>& tasks) {
  for (const ListedTask& listed : one_by_one(scenario))
    tasks.push_back({.label = listed.label,
                     .contract = contract_of(listed),
                     .offset = listed.offset,
                     .arrival = arrival_of(listed),
                     .execution = execution_of(listed),
                     .is_high = listed.criticality == "high",
                     .budget_high = listed.budget_high.value_or(listed.budget),
                     .requests = listed.requests});
}

void sort_by(const Policy& policy, std::vector<Task>& tasks) {
  const sched::TaskOrder* const order = find_named(sched::task_orders(), policy.order);
  if (order == nullptr) return;
  std::ranges::stable_sort(tasks, order->before, &Task::contract);
}

// Makes the random numbers of one set. Each purpose has a sequence of its own.
class Source {
 public:
  Source(std::int64_t seed, std::int64_t set)
      : seed_(static_cast<std::uint64_t>(seed)), set_(static_cast<std::uint64_t>(set)) {}
  Random of(Purpose purpose) const { return random_of(seed_, set_, purpose); }

 private:
  std::uint64_t seed_, set_;
};

Arrival drawn_arrival(const Generator& generator, Duration period) {
  return {.kind = arrival_kind(generator.arrival), .gap = part_of(period, generator.gap), .burst = generator.burst};
}

// The result is empty if the generator found no set within its limits.
std::vector<Task> drawn_tasks(const Generator& generator, Random random) {
  const auto shares = utilization_generator(generator.utilizations)->draw(random, utilization_request_of(generator));
  const PeriodDistribution& periods = *period_distribution(generator.periods);
  const PeriodRequest request = period_request_of(generator);
  std::vector<Task> tasks;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const Contract contract = drawn_contract(shares[i], periods.draw(random, request), generator);
    tasks.push_back({.label = "drawn-" + std::to_string(i + 1),
                     .contract = contract,
                     .offset = {},
                     .arrival = drawn_arrival(generator, contract.period),
                     .execution = execution_of(generator)});
  }
  return tasks;
}

void add_random_offsets(Random random, std::vector<Task>& tasks) {
  for (Task& task : tasks) {
    const auto period = static_cast<std::uint64_t>(task.contract.period.count());
    task.offset = Duration{static_cast<std::int64_t>(below(random, period))};
  }
}

// Gives randomly chosen tasks high criticality. generator.high_tasks says how many; the number is rounded down.
void raise_criticality(const Generator& generator, Random random, std::vector<Task>& tasks) {
  std::vector<Task*> shuffled;
  for (Task& task : tasks) shuffled.push_back(&task);
  shuffle(random, std::span(shuffled));
  const auto count = static_cast<std::int64_t>(tasks.size()) * generator.high_tasks.millionths / unity.millionths;
  for (Task* const task : std::span(shuffled).first(static_cast<std::size_t>(count))) {
    task->is_high = true;
    task->budget_high = std::min(part_of(task->contract.budget, generator.high_factor), task->contract.deadline);
  }
}

// Orders the drawn tasks. sort_by() later sorts all tasks, and keeps this order among equal ones.
void arrange(const Generator& generator, Random random, std::vector<Task>& tasks) {
  if (generator.order == "random") shuffle(random, std::span(tasks));
  if (generator.order == "increasing-period")
    std::ranges::stable_sort(tasks, {}, [](const Task& task) { return task.contract.period; });
}

// Returns the entry of a scenario file that describes a drawn task.
ListedTask listed_of(const Task& task) {
  const Contract& contract = task.contract;
  return {.label = task.label,
          .period = contract.period,
          .budget = contract.budget,
          .deadline = contract.deadline,
          .jitter = contract.jitter,
          .criticality = task.is_high ? "high" : "low",
          .budget_high = task.is_high ? std::optional(task.budget_high) : std::nullopt,
          .offset = task.offset,
          .arrival = std::string(arrival_names[static_cast<std::size_t>(task.arrival.kind)]),
          .gap = task.arrival.gap,
          .burst = task.arrival.burst,
          .execution = task.execution.most,
          .execution_min = task.execution.least};
}

// Returns the listed tasks, and the drawn ones behind them.
Expected<std::vector<Task>, ScenarioFault> unsorted_tasks(const Scenario& scenario, std::int64_t set) {
  std::vector<Task> tasks;
  add_listed(scenario, tasks);
  if (!scenario.generate) return tasks;
  const Generator& generator = *scenario.generate;
  const Source source(scenario.seed, set);
  std::vector<Task> drawn = drawn_tasks(generator, source.of(Purpose::tasks));
  if (drawn.empty())
    return ScenarioFault{"generate.utilizations = \"" + generator.utilizations +
                         "\" found no set within the limits of a task; use utilizations = \"randfixedsum\", or widen "
                         "utilization_min and utilization_max"};
  if (generator.offsets == "random") add_random_offsets(source.of(Purpose::offsets), drawn);
  raise_criticality(generator, source.of(Purpose::criticality), drawn);
  arrange(generator, source.of(Purpose::order), drawn);
  tasks.insert(tasks.end(), std::move_iterator(drawn.begin()), std::move_iterator(drawn.end()));
  return tasks;
}

}  // namespace

Expected<std::vector<Task>, ScenarioFault> tasks_of(const Scenario& scenario, std::int64_t set) {
  auto tasks = unsorted_tasks(scenario, set);
  if (tasks) sort_by(scenario.policy, *tasks);
  return tasks;
}

Expected<Scenario, ScenarioFault> as_listed(const Scenario& scenario, std::int64_t set) {
  const auto tasks = unsorted_tasks(scenario, set);
  if (!tasks) return tasks.error();
  Scenario listed = scenario;
  listed.tasks = one_by_one(scenario);
  for (std::size_t i = listed.tasks.size(); i < tasks->size(); ++i) listed.tasks.push_back(listed_of((*tasks)[i]));
  listed.generate.reset();
  listed.repetitions = 1;
  return listed;
}

}  // namespace corelane::eval
