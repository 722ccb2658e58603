#include "orb/eval/plan.h"

#include <catch2/catch.hpp>

#include "orb/eval/planning/idle_server.h"
#include "orb/sched/admission_test.h"

namespace plan_test {

using namespace corelane;
using namespace corelane::eval;
using namespace std::chrono_literals;

namespace {

PlanRequest request_of(const std::vector<Contract>& contracts, int cores = 1) {
  PlanRequest request;
  for (const Contract& contract : contracts)
    request.tasks.push_back({.label = "task-" + std::to_string(request.tasks.size() + 1), .contract = contract});
  request.cores = numbered_cores(cores);
  return request;
}

// Options without a platform load, for published examples.
PlanRequest bare(PlanRequest request) {
  request.server.platform = {};
  request.server.capacity = sched::whole_core;
  return request;
}

}  // namespace

TEST_CASE("a plan has the verdict of a server with its default settings, with jitter and platform load") {
  const Plan made = plan(request_of({make_contract(10ms, 4ms), make_contract(20ms, 8ms), make_contract(10ms, 6ms)}));
  REQUIRE(made.tasks.size() == 3);
  CHECK(made.tasks[0].admitted);
  CHECK(made.tasks[0].core == CoreId{0});
  CHECK(made.tasks[0].bound == 5100us);
  CHECK(made.tasks[0].utilization == 400'000);
  CHECK(made.tasks[1].bound == 18'340us);
  CHECK_FALSE(made.tasks[2].admitted);
  CHECK(made.tasks[2].refusal.nearest.found());
  CHECK(made.refused == 1);
  CHECK(made.promises);
}

TEST_CASE("an idle server refuses a task that would fit without jitter and platform load") {
  CHECK(plan(request_of({make_contract(5ms, 3600us, 4ms)})).refused == 1);
  CHECK(plan(bare(request_of({make_contract(5ms, 3600us, 4ms, 0ms)}))).tasks[0].bound == 3600us);
}

TEST_CASE("the bounds of a plan are the published response times") {
  const Plan made = plan(bare(request_of({make_contract(4ms, 1ms, {}, 0ms), make_contract(5ms, 1ms, {}, 0ms),
                                          make_contract(9ms, 3ms, {}, 0ms), make_contract(18ms, 3ms, {}, 0ms)})));
  const std::vector<Duration> published{1ms, 2ms, 7ms, 18ms};
  for (std::size_t i = 0; i < published.size(); ++i) CHECK(made.tasks[i].bound == published[i]);
}

TEST_CASE("the fewest cores are enough, and one less is not") {
  PlanRequest request = request_of(std::vector<Contract>(5, make_contract(10ms, 4ms)));
  const Plan made = plan(request);
  REQUIRE(made.fewest_cores);
  request.cores = numbered_cores(*made.fewest_cores);
  CHECK(plan(request).refused == 0);
  request.cores = numbered_cores(*made.fewest_cores - 1);
  CHECK(plan(request).refused > 0);
  CHECK(*made.fewest_cores == 3);
}

TEST_CASE("no number of cores is enough for a task that does not fit alone") {
  const Plan made = plan(request_of({make_contract(10ms, 1ms), make_contract(10ms, 9800us)}));
  CHECK_FALSE(made.fewest_cores);
  CHECK(made.hopeless == 1);
}

TEST_CASE("a budget may grow to a value that is admitted, and to none that is a ten-thousandth larger") {
  PlanRequest request = request_of({make_contract(10ms, 2ms), make_contract(20ms, 3ms), make_contract(50ms, 10ms)});
  const Plan made = plan(request);
  for (std::size_t i = 0; i < made.tasks.size(); ++i) {
    REQUIRE(made.tasks[i].largest_budget);
    const Duration largest = *made.tasks[i].largest_budget;
    CHECK(largest > request.tasks[i].contract.budget);
    PlanRequest grown = request;
    grown.tasks[i].contract.budget = largest;
    CHECK(plan(grown).refused == 0);
    grown.tasks[i].contract.budget = largest + largest / 1000;
    CHECK(plan(grown).refused > 0);
  }
}

TEST_CASE("the growth of all budgets is exact for harmonic tasks without load") {
  // Half of the core is used: all budgets may double.
  const Plan made = plan(bare(request_of({make_contract(10ms, 2500us, {}, 0ms), make_contract(20ms, 5ms, {}, 0ms)})));
  CHECK(made.growth == 2000);
  CHECK(made.tasks[0].largest_budget == 7500us);
  CHECK(made.tasks[1].largest_budget == 15ms);
}

TEST_CASE("budgets of admitted tasks may grow although another task is refused") {
  const Plan made = plan(request_of({make_contract(10ms, 4ms), make_contract(10ms, 9ms)}));
  CHECK(made.refused == 1);
  CHECK(made.growth > 1000);
  CHECK(made.tasks[0].largest_budget > 4ms);
  CHECK_FALSE(made.tasks[1].largest_budget);
}

TEST_CASE("a server without admission admits every task and bounds none") {
  PlanRequest request = request_of(std::vector<Contract>(3, make_contract(10ms, 9ms)));
  request.server.admission_test = &sched::admission::none;
  const Plan made = plan(request);
  CHECK(made.refused == 0);
  CHECK_FALSE(made.promises);
  CHECK(made.tasks[0].bound == 0ms);
  CHECK_FALSE(made.fewest_cores);
  CHECK_FALSE(made.growth);
}

TEST_CASE("a plan for more tasks than a server takes refuses the rest, and no number of cores is enough") {
  PlanRequest request = request_of(std::vector<Contract>(6, make_contract(1s, 1ms)));
  request.server.max_tasks = 4;
  const Plan made = plan(request);
  CHECK(made.refused == 2);
  CHECK(made.tasks[4].refusal.code == sched::RefusalCode::too_many_tasks);
  CHECK_FALSE(made.fewest_cores);
}

TEST_CASE("a plan without tasks is empty") {
  const Plan made = plan(request_of({}));
  CHECK(made.tasks.empty());
  CHECK(made.refused == 0);
  CHECK_FALSE(made.growth);
}

}  // namespace plan_test
