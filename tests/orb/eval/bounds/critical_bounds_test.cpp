#include "orb/eval/bounds/critical_bounds.h"

#include <catch2/catch.hpp>

#include "orb/sched/admission_test.h"

namespace critical_bounds_test {

using namespace corelane;
using namespace corelane::eval;
using namespace std::chrono_literals;

namespace {

PlanRequest bare(int cores = 1) {
  PlanRequest request;
  request.cores = numbered_cores(cores);
  request.server.platform = {};
  request.server.capacity = sched::whole_core;
  request.sensitivity = request.fewest = false;
  return request;
}

Task low(Duration period, Duration budget) {
  return {.label = "low", .contract = make_contract(period, budget, {}, 0ms)};
}

Task high(Duration period, Duration budget, Duration larger) {
  return {.label = "high", .contract = make_contract(period, budget, {}, 0ms), .is_high = true, .budget_high = larger};
}

}  // namespace

TEST_CASE("tasks of high criticality have the bounds that were computed by hand") {
  PlanRequest request = bare();
  request.tasks = {high(5ms, 1ms, 2ms), low(8ms, 2ms), high(20ms, 2ms, 4ms)};
  const Plan made = plan(request);
  CHECK(made.tasks[0].high->bound == 2ms);
  CHECK_FALSE(made.tasks[1].high);
  CHECK(made.tasks[2].bound == 5ms);
  CHECK(made.tasks[2].high->bound == 10ms);
  CHECK(holds(made));
}

TEST_CASE("a task of high criticality that may be late after an overrun does not hold") {
  PlanRequest request = bare();
  request.tasks = {high(10ms, 2ms, 8ms), high(10ms, 2ms, 3ms)};
  const Plan made = plan(request);
  CHECK(made.refused == 0);
  CHECK(made.tasks[0].high->holds);
  CHECK_FALSE(made.tasks[1].high->holds);
  CHECK_FALSE(made.tasks[1].high->bound);
  CHECK_FALSE(holds(made));
}

// After an overrun the second task ends at 5 + 3 of 10 ms. Both low and high budgets grow.
TEST_CASE("budgets grow only as far as tasks of high criticality are in time after an overrun") {
  PlanRequest request = bare();
  request.tasks = {high(10ms, 2ms, 5ms), high(10ms, 2ms, 3ms)};
  request.sensitivity = true;
  const Plan made = plan(request);
  CHECK(made.growth == 1250);
  CHECK(made.tasks[0].largest_budget == 7ms);
  CHECK(made.tasks[1].largest_budget == 5ms);
}

TEST_CASE("the fewest cores are enough after an overrun, too") {
  PlanRequest request = bare(2);
  request.tasks = {high(10ms, 2ms, 8ms), high(10ms, 2ms, 3ms)};
  request.fewest = true;
  CHECK(plan(request).fewest_cores == 2);
  request.tasks[0].budget_high = 7ms;
  CHECK(plan(request).fewest_cores == 1);
}

TEST_CASE("tasks on other cores do not count, and the load of the platform does") {
  PlanRequest request = bare(2);
  request.tasks = {high(10ms, 2ms, 8ms), high(10ms, 2ms, 3ms)};
  CHECK(holds(plan(request)));
  request.server.platform = {.budget = 1ms, .period = 10ms};
  const Plan made = plan(request);
  CHECK(made.tasks[0].high->bound == 9ms);
  CHECK(made.tasks[1].high->bound == 4ms);
}

TEST_CASE("without larger budgets the bound of the high mode is that of the server") {
  PlanRequest request;
  request.cores = numbered_cores(1);
  request.sensitivity = request.fewest = false;
  request.tasks = {high(10ms, 2ms, 2ms), high(25ms, 5ms, 5ms), high(60ms, 10ms, 10ms)};
  const Plan made = plan(request);
  REQUIRE(made.refused == 0);
  for (const TaskVerdict& verdict : made.tasks) CHECK(verdict.high->bound == verdict.bound);
}

TEST_CASE("without a server's priorities there is no bound, and tasks of high criticality do not hold") {
  PlanRequest request = bare();
  request.tasks = {high(10ms, 2ms, 3ms), low(20ms, 2ms)};
  request.server.deadline_cores = {CoreId{0}};
  const Plan by_deadlines = plan(request);
  CHECK(by_deadlines.refused == 0);
  CHECK_FALSE(by_deadlines.tasks[0].high->holds);
  request.server.deadline_cores = {};
  request.server.admission_test = find_named(sched::admission_tests(), "gfb");
  request.chains = {{.label = "x", .tasks = {"high", "low"}, .deadline = {}}};
  const Plan global = plan(request);
  CHECK(global.refused == 0);
  CHECK_FALSE(global.tasks[0].high->holds);
  CHECK_FALSE(global.chains[0].direct);
}

TEST_CASE("a refused task of high criticality does not hold") {
  PlanRequest request = bare();
  request.tasks = {high(10ms, 6ms, 6ms), high(10ms, 6ms, 6ms)};
  CHECK_FALSE(plan(request).tasks[1].high->holds);
}

}  // namespace critical_bounds_test
