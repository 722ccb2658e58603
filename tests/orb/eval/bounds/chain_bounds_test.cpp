#include "orb/eval/bounds/chain_bounds.h"

#include <catch2/catch.hpp>
#include <random>

namespace chain_bounds_test {

using namespace corelane;
using namespace corelane::eval;
using namespace std::chrono_literals;

namespace {

// Options without a platform load, for examples computed by hand.
PlanRequest bare(int cores) {
  PlanRequest request;
  request.cores = numbered_cores(cores);
  request.server.platform = {};
  request.server.capacity = sched::whole_core;
  request.sensitivity = request.fewest = false;
  return request;
}

Task task(const char* label, Duration period, Duration budget, Duration jitter = 0ms) {
  return {.label = label, .contract = make_contract(period, budget, {}, jitter)};
}

}  // namespace

TEST_CASE("with a release guard, the end of a chain is bounded by the sum of the bounds") {
  PlanRequest request = bare(2);
  request.tasks = {task("a", 20ms, 4ms), task("b", 20ms, 6ms), task("c", 20ms, 2ms)};
  request.chains = {{.label = "control", .tasks = {"a", "b", "c"}, .deadline = 18ms}};
  const Plan made = plan(request);
  REQUIRE(made.chains.size() == 1);
  const ChainVerdict& chain = made.chains[0];
  CHECK(chain.label == "control");
  CHECK(chain.tasks == std::vector<std::size_t>{0, 1, 2});
  CHECK(chain.bound == made.tasks[0].bound + made.tasks[1].bound + made.tasks[2].bound);
  CHECK(chain.bound == 16ms);  // worst fit puts c beside a: 4, 6, and 6 with a before it
  CHECK(chain.holds);
  CHECK(holds(made));
}

TEST_CASE("a chain that ends after its deadline does not hold, although its tasks are admitted") {
  PlanRequest request = bare(2);
  request.tasks = {task("a", 20ms, 4ms), task("b", 20ms, 6ms), task("c", 20ms, 2ms)};
  request.chains = {{.label = {}, .tasks = {"a", "b", "c"}, .deadline = 15ms}};
  const Plan made = plan(request);
  CHECK(made.refused == 0);
  CHECK(made.chains[0].label == "chain-1");
  CHECK_FALSE(made.chains[0].holds);
  CHECK_FALSE(holds(made));
}

// Each task has a core, so the end of the chain is the sum of the budgets.
TEST_CASE("a budget grows only as far as its chain is in time") {
  PlanRequest request = bare(2);
  request.tasks = {task("a", 20ms, 4ms), task("b", 20ms, 6ms)};
  request.chains = {{.label = "x", .tasks = {"a", "b"}, .deadline = 15ms}};
  request.sensitivity = true;
  const Plan made = plan(request);
  CHECK(made.tasks[0].largest_budget == 9ms);
  CHECK(made.tasks[1].largest_budget == 11ms);
  CHECK(made.growth == 1500);
  request.chains[0].deadline = {};
  CHECK(plan(request).growth == 3333);
}

TEST_CASE("a chain that is late already does not keep budgets from growing") {
  PlanRequest request = bare(2);
  request.tasks = {task("a", 20ms, 4ms), task("b", 20ms, 6ms)};
  request.chains = {{.label = "x", .tasks = {"a", "b"}, .deadline = 9ms}};
  request.sensitivity = true;
  CHECK(plan(request).growth == 3333);
}

// On one core b waits for a: 4 ms and 10 ms. On two they need 4 ms and 6 ms.
TEST_CASE("the fewest cores are enough for chains, too") {
  PlanRequest request = bare(2);
  request.tasks = {task("a", 20ms, 4ms), task("b", 20ms, 6ms)};
  request.chains = {{.label = "x", .tasks = {"a", "b"}, .deadline = 14ms}};
  request.fewest = true;
  CHECK(plan(request).fewest_cores == 1);
  request.chains[0].deadline = 13ms;
  CHECK(plan(request).fewest_cores == 2);
  request.chains[0].deadline = 9ms;
  CHECK_FALSE(plan(request).fewest_cores);
}

TEST_CASE("a chain with a refused task has no bound") {
  PlanRequest request = bare(1);
  request.tasks = {task("a", 20ms, 12ms), task("b", 20ms, 12ms)};
  request.chains = {{.label = "x", .tasks = {"a", "b"}, .deadline = {}}};
  const Plan made = plan(request);
  CHECK_FALSE(made.chains[0].bound);
  CHECK_FALSE(made.chains[0].direct);
  CHECK_FALSE(made.chains[0].holds);
}

TEST_CASE("without a release guard, the end is that of the holistic analysis") {
  PlanRequest request = bare(2);
  // The first task takes from 1 ms to 4 ms, so the second one has a jitter of 3 ms.
  request.tasks = {task("a", 20ms, 4ms), task("b", 20ms, 6ms)};
  request.tasks[0].execution.least = {250'000};
  request.chains = {{.label = "x", .tasks = {"a", "b"}, .deadline = {}}};
  const Plan made = plan(request);
  REQUIRE(made.refused == 0);
  CHECK(made.tasks[0].core != made.tasks[1].core);
  CHECK(made.chains[0].direct == 10ms);
  CHECK(made.chains[0].bound == 10ms);
}

TEST_CASE("without chains, the holistic analysis gives the bounds of the server") {
  std::mt19937_64 random(5);
  int compared = 0, equal = 0;
  for (int set = 0; set < 60; ++set) {
    PlanRequest request;
    request.cores = numbered_cores(2);
    request.sensitivity = request.fewest = false;
    for (int i = 0; i < 6; ++i) {
      const auto period = std::chrono::milliseconds{5 + static_cast<int>(random() % 50)};
      Contract contract = make_contract(period, period * static_cast<int>(5 + random() % 25) / 100);
      if (random() % 4 == 0) contract.uses[0] = use_of("bus", contract.budget / 4);
      if (random() % 4 == 0) contract.on_overrun = OverrunPolicy::demote;
      if (random() % 4 == 0 && !uses_resources(contract)) contract.suspension = contract.budget / 3;
      request.tasks.push_back({.label = "task-" + std::to_string(i), .contract = contract});
    }
    // Each task is a chain of its own.
    for (int i = 0; i < 6; ++i) request.chains.push_back({.label = {}, .tasks = {"task-" + std::to_string(i)}});
    const Plan made = plan(request);
    for (std::size_t i = 0; i < made.tasks.size(); ++i) {
      if (!made.tasks[i].admitted || made.tasks[i].task.contract.suspension > 0ms) continue;
      const bool is_enforced_user =
          uses_resources(made.tasks[i].task.contract) && is_enforced(made.tasks[i].task.contract, false);
      if (is_enforced_user) continue;  // its own rest of a section counts for it here, too
      CAPTURE(set, i);
      REQUIRE(made.chains[i].direct);
      // The server reports the largest bound that a task has had. It may have been moved since.
      CHECK(*made.chains[i].direct <= made.tasks[i].bound);
      equal += *made.chains[i].direct == made.tasks[i].bound ? 1 : 0;
      ++compared;
    }
  }
  CHECK(compared > 150);
  CHECK(equal > compared * 9 / 10);
}

}  // namespace chain_bounds_test
