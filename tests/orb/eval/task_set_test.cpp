#include "orb/eval/task_set.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>
#include <string>

#include "orb/eval/scenario_file.h"
#include "orb/sched/share.h"
#include "tests/support/law.h"

namespace task_set_test {

using namespace corelane;
using namespace corelane::eval;
using namespace std::chrono_literals;
using corelane::testing::Draw;
using corelane::testing::expect;
using corelane::testing::holds;

namespace {

std::vector<Task> drawn(const Generator& generator, std::int64_t seed = 1, std::int64_t set = 0) {
  Scenario scenario{.seed = seed, .generate = generator};
  auto tasks = tasks_of(scenario, set);
  if (!tasks) FAIL(tasks.error().text);
  return *std::move(tasks);
}

double utilization_of(const std::vector<Task>& tasks) {
  double sum = 0;
  for (const Task& task : tasks)
    sum += static_cast<double>(task.contract.budget.count()) / static_cast<double>(task.contract.period.count());
  return sum;
}

}  // namespace

TEST_CASE("listed tasks come in their order, each as often as its count says") {
  Scenario scenario;
  scenario.tasks = {{.label = "b", .period = 10ms, .budget = 1ms, .offset = 3ms, .count = 2},
                    {.label = "a", .period = 20ms, .budget = 2ms, .deadline = 8ms, .jitter = 0ms}};
  const auto tasks = tasks_of(scenario);
  REQUIRE(tasks);
  REQUIRE(tasks->size() == 3);
  CHECK((*tasks)[0].label == "b-1");
  CHECK((*tasks)[1].label == "b-2");
  CHECK((*tasks)[1].offset == 3ms);
  CHECK((*tasks)[2].label == "a");
  CHECK((*tasks)[2].contract == make_contract(20ms, 2ms, 8ms, 0ms));
}

TEST_CASE("drawn tasks come after those of the file") {
  Scenario scenario;
  scenario.tasks = {{.period = 10ms, .budget = 1ms}};
  scenario.generate = Generator{.tasks = 2, .utilization = {500'000}};
  const auto tasks = tasks_of(scenario);
  REQUIRE(tasks);
  REQUIRE(tasks->size() == 3);
  CHECK((*tasks)[0].label == "task-1");
  CHECK((*tasks)[2].label == "drawn-2");
}

TEST_CASE("tasks ask for admission in the order of the policy, those of the file and drawn ones alike") {
  Scenario scenario;
  scenario.tasks = {{.label = "small", .period = 10ms, .budget = 1ms},
                    {.label = "large", .period = 10ms, .budget = 9ms}};
  scenario.generate = Generator{.tasks = 1, .utilization = {500'000}};
  scenario.policy.order = "decreasing-utilization";
  const auto tasks = tasks_of(scenario);
  REQUIRE(tasks);
  REQUIRE(tasks->size() == 3);
  CHECK((*tasks)[0].label == "large");
  CHECK((*tasks)[1].label == "drawn-1");
  CHECK((*tasks)[2].label == "small");
}

TEST_CASE("listing the drawn tasks keeps each task once, whatever the order of the policy") {
  Scenario scenario;
  scenario.tasks = {{.label = "small", .period = 100ms, .budget = 1ms},
                    {.label = "large", .period = 10ms, .budget = 4ms}};
  scenario.generate = Generator{.tasks = 3, .utilization = {500'000}};
  scenario.policy.order = GENERATE("", "decreasing-utilization", "increasing-period");
  const auto listed = as_listed(scenario);
  REQUIRE(listed);
  std::multiset<std::string> labels;
  for (const ListedTask& task : listed->tasks) labels.insert(task.label);
  CHECK(labels == std::multiset<std::string>{"small", "large", "drawn-1", "drawn-2", "drawn-3"});
  const auto before = tasks_of(scenario), after = tasks_of(*listed);
  REQUIRE((before && after));
  CHECK(std::ranges::equal(*before, *after, {}, &Task::label, &Task::label));
}

TEST_CASE("a seed and a set give the same tasks on every machine, and others give others") {
  const Generator generator{.tasks = 3, .utilization = {900'000}};
  const std::vector<Task> tasks = drawn(generator);
  REQUIRE(tasks.size() == 3);
  CHECK(tasks[0].contract == make_contract(18'011us, 5'439'257ns));
  CHECK(tasks[1].contract == make_contract(40'577us, 16'296'446ns));
  CHECK(drawn(generator)[0].contract == tasks[0].contract);
  CHECK_FALSE(drawn(generator, 2)[0].contract == tasks[0].contract);
  CHECK_FALSE(drawn(generator, 1, 1)[0].contract == tasks[0].contract);
}

TEST_CASE("the contracts of drawn tasks are sound and need what was asked for") {
  CHECK(holds([](Draw& draw) {
    Generator generator;
    generator.tasks = 1 + static_cast<std::int64_t>(draw.below(20));
    generator.utilization = {
        1 + static_cast<std::int64_t>(draw.below(static_cast<std::uint64_t>(generator.tasks) * 700'000))};
    generator.utilizations = "randfixedsum";
    generator.deadline = {1 + static_cast<std::int64_t>(draw.below(7'000'000))};
    generator.jitter = {static_cast<std::int64_t>(draw.below(1'000'000))};
    generator.periods = draw.flag() ? "automotive" : "log-uniform";
    const std::vector<Task> tasks = drawn(generator, static_cast<std::int64_t>(draw.below(1000)));
    expect(static_cast<std::int64_t>(tasks.size()) == generator.tasks, "there are as many tasks as asked for");
    for (const Task& task : tasks) {
      expect(is_sound(task.contract), "contracts are sound");
      expect(task.contract.jitter < task.contract.deadline, "jitter is below the deadline");
    }
    const double asked = static_cast<double>(generator.utilization.millionths) / 1e6;
    const double rounding = 1e-6 * static_cast<double>(tasks.size());  // of budgets: 1 ns of at least 1 ms
    const double needed = utilization_of(tasks);
    expect(needed <= asked + rounding && needed >= asked - rounding, "the sum is what was asked for");
  }));
}

TEST_CASE("deadlines and jitters are parts of the period, and a deadline has room for the budget") {
  const Generator generator{.tasks = 50,
                            .utilization = {25'000'000},
                            .utilizations = "randfixedsum",
                            .deadline = {500'000},
                            .jitter = {100'000}};
  for (const Task& task : drawn(generator)) {
    const Contract& c = task.contract;
    CHECK(c.deadline == std::max(c.budget, c.period / 2));
    CHECK(c.jitter == c.deadline / 10);
  }
}

TEST_CASE("an order of arrival changes when tasks ask, and nothing else") {
  Generator generator{.tasks = 20, .utilization = {1'000'000}};
  const auto sorted = [](std::vector<Task> tasks) {
    std::ranges::sort(tasks, {}, &Task::label);
    return tasks;
  };
  const auto same = [](const Task& a, const Task& b) { return a.label == b.label && a.contract == b.contract; };
  const std::vector<Task> as_drawn = drawn(generator);
  generator.order = "random";
  const std::vector<Task> shuffled = drawn(generator);
  CHECK_FALSE(std::ranges::equal(as_drawn, shuffled, same));
  CHECK(std::ranges::equal(sorted(as_drawn), sorted(shuffled), same));
  generator.order = "increasing-period";
  const std::vector<Task> by_period = drawn(generator);
  CHECK(std::ranges::is_sorted(by_period, {}, [](const Task& task) { return task.contract.period; }));
  CHECK(std::ranges::equal(sorted(as_drawn), sorted(by_period), same));
}

TEST_CASE("random offsets are within the period, and leave the contracts as they are") {
  Generator generator{.tasks = 30, .utilization = {1'000'000}};
  const std::vector<Task> zero = drawn(generator);
  generator.offsets = "random";
  const std::vector<Task> random = drawn(generator);
  std::set<Duration> offsets;
  for (std::size_t i = 0; i < random.size(); ++i) {
    CHECK(zero[i].offset == 0ns);
    CHECK(random[i].contract == zero[i].contract);
    CHECK(random[i].offset < random[i].contract.period);
    offsets.insert(random[i].offset);
  }
  CHECK(offsets.size() == 30);
}

TEST_CASE("a part of the drawn tasks has high criticality, with a larger budget up to the deadline") {
  Generator generator{.tasks = 10, .utilization = {4'000'000}, .utilizations = "randfixedsum"};
  const std::vector<Task> before = drawn(generator);
  generator.high_tasks = {450'000};
  generator.high_factor = {3'000'000};
  const std::vector<Task> tasks = drawn(generator);
  CHECK(std::ranges::count(tasks, true, &Task::is_high) == 4);
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    CHECK(tasks[i].contract == before[i].contract);
    if (tasks[i].is_high)
      CHECK(tasks[i].budget_high == std::min(3 * tasks[i].contract.budget, tasks[i].contract.deadline));
  }
}

TEST_CASE("tasks have the arrivals and execution times of the scenario") {
  Scenario scenario;
  scenario.tasks = {
      {.period = 10ms, .budget = 1ms, .arrival = "sporadic"},
      {.period = 10ms, .budget = 1ms, .arrival = "bursty", .gap = 3ms, .burst = 2, .execution = {800'000}},
      {.period = 10ms, .budget = 1ms, .execution_min = Fraction{500'000}},
      {.period = 10ms, .budget = 1ms, .execution_trace = {2ms}}};
  scenario.generate = Generator{.tasks = 1,
                                .utilization = {500'000},
                                .arrival = "sporadic",
                                .gap = {500'000},
                                .execution = {900'000},
                                .execution_min = Fraction{100'000}};
  const auto tasks = tasks_of(scenario);
  REQUIRE(tasks);
  CHECK((*tasks)[0].arrival.kind == ArrivalKind::sporadic);
  CHECK((*tasks)[0].arrival.gap == 10ms);
  CHECK((*tasks)[1].arrival.kind == ArrivalKind::bursty);
  CHECK((*tasks)[1].arrival.gap == 3ms);
  CHECK((*tasks)[1].arrival.burst == 2);
  CHECK((*tasks)[1].execution.least == Fraction{800'000});
  CHECK((*tasks)[2].execution.least == Fraction{500'000});
  CHECK((*tasks)[2].execution.most == unity);
  CHECK((*tasks)[3].execution.trace == std::vector<Duration>{2ms});
  const Task& last = tasks->back();
  CHECK(last.arrival.gap == part_of(last.contract.period, {500'000}));
  CHECK(last.execution.least == Fraction{100'000});
  CHECK(last.execution.most == Fraction{900'000});
}

TEST_CASE("a generator that gives up is named with what to change") {
  Scenario scenario;
  scenario.generate = Generator{.tasks = 12, .utilization = {11'900'000}};
  const auto tasks = tasks_of(scenario);
  REQUIRE_FALSE(tasks);
  CHECK_THAT(tasks.error().text, Catch::Contains("\"uunifast-discard\" found no set") &&
                                     Catch::Contains("use utilizations = \"randfixedsum\""));
}

}  // namespace task_set_test
