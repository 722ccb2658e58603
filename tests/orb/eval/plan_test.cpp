#include "orb/eval/plan.h"

#include <catch2/catch.hpp>
#include <optional>
#include <string_view>

#include "orb/base/registry.h"
#include "orb/eval/planning/idle_server.h"
#include "orb/sched/admission_test.h"
#include "orb/sched/allocation_strategy.h"

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

// Returns a contract without jitter.
Contract timed(Duration budget, Duration period, std::optional<Duration> deadline = {}) {
  return make_contract(period, budget, deadline, 0ms);
}

PlanRequest by_policies(std::string_view test, std::string_view allocation, const std::vector<Contract>& contracts,
                        int cores = 1) {
  PlanRequest request = bare(request_of(contracts, cores));
  request.server.admission_test = find_named(sched::admission_tests(), test);
  request.server.allocation = find_named(sched::allocation_strategies(), allocation);
  REQUIRE(request.server.admission_test != nullptr);
  REQUIRE(request.server.allocation != nullptr);
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

// Policies.

TEST_CASE("a plan by the demand of each core admits the published set, and not one task more") {
  PlanRequest request =
      by_policies("qpa", "worst-fit",
                  {timed(6000us, 31'000us, 18'000us), timed(2000us, 9800us, 9000us), timed(1000us, 17'000us, 12'000us),
                   timed(90us, 4200us, 3000us), timed(8us, 96us, 78us), timed(2us, 12us, 16us),
                   timed(10us, 280us, 120us), timed(26us, 660us, 160us)});
  request.sensitivity = request.fewest = false;
  CHECK(plan(request).refused == 0);
  request.tasks.push_back({.label = "one more", .contract = timed(10us, 100us, 15us), .offset = {}});
  const Plan made = plan(request);
  CHECK(made.refused == 1);
  CHECK_FALSE(made.tasks.back().admitted);
  CHECK(made.cores[0].order == sched::CoreOrder::deadline);
}

TEST_CASE("each test of one core plans as its bound says") {
  // Utilization 1/3 + 1/4 + 2/10: Liu-Layland and the aperiodic bound refuse the third task.
  const std::vector<Contract> tasks{timed(1ms, 3ms), timed(1ms, 4ms), timed(2ms, 10ms)};
  CHECK(plan(by_policies("response-time", "worst-fit", tasks)).refused == 0);
  CHECK(plan(by_policies("hyperbolic", "worst-fit", tasks)).refused == 0);
  CHECK(plan(by_policies("liu-layland", "worst-fit", tasks)).refused == 1);
  CHECK(plan(by_policies("aub", "worst-fit", tasks)).refused == 1);
}

TEST_CASE("a plan for global fixed priorities has the published bounds and binds no task to a core") {
  // The published bound of the last task is 15, for jobs that come at whole milliseconds. These come at any time.
  const Plan made = plan(
      by_policies("global-fp", "worst-fit", {timed(9ms, 18ms), timed(3ms, 9ms), timed(1ms, 5ms), timed(1ms, 4ms)}, 2));
  const std::vector<Duration> bounds{15'999'999ns, 4ms, 1ms, 1ms};
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    CHECK(made.tasks[i].admitted);
    CHECK(made.tasks[i].bound == bounds[i]);
    CHECK(made.tasks[i].core == no_core);
  }
  CHECK(made.is_global);
  CHECK(made.fewest_cores == 2);
  CHECK(made.growth >= 1000);
}

TEST_CASE("a plan for global deadlines admits up to m - (m - 1) of the greatest utilization") {
  const Plan made =
      plan(by_policies("gfb", "worst-fit", {timed(1ms, 2ms), timed(1ms, 2ms), timed(1ms, 2ms), timed(1us, 1s)}, 2));
  CHECK(made.refused == 1);
  CHECK_FALSE(made.tasks[3].admitted);
  CHECK(made.tasks[3].refusal.by_bound);
  CHECK(made.tasks[0].bound == 2ms);
  CHECK(made.fewest_cores == 3);
}

TEST_CASE("release jitter counts as a shorter period and a shorter deadline in a plan for all cores") {
  // Without the jitter, its density is 1/2; with it, 1/1.
  const Plan made = plan(by_policies("gfb", "worst-fit", {make_contract(4ms, 2ms, {}, 2ms), timed(1ms, 100ms)}, 1));
  CHECK(made.tasks[0].admitted);
  CHECK(made.tasks[0].bound == 4ms);
  CHECK_FALSE(made.tasks[1].admitted);
  CHECK(plan(by_policies("gfb", "worst-fit", {make_contract(4ms, 3ms, {}, 2ms)}, 1)).refused == 1);
}

TEST_CASE("three tasks of two thirds fit two cores only when one is cut") {
  const std::vector<Contract> tasks(3, timed(66us, 100us));
  CHECK(plan(by_policies("qpa", "first-fit", tasks, 2)).refused == 1);
  const Plan made = plan(by_policies("qpa", "splitting", tasks, 2));
  CHECK(made.refused == 0);
  CHECK(made.tasks[0].parts.empty());
  CHECK(made.tasks[0].core == CoreId{0});
  REQUIRE(made.tasks[2].parts.size() == 2);
  CHECK(made.tasks[2].parts[0].budget == 34us);
  CHECK(made.tasks[2].parts[1].budget == 32us);
  CHECK(made.tasks[2].parts[1].core == CoreId{1});
  CHECK(made.tasks[2].bound == 98us);
  CHECK(made.cores[0].admitted == 1'000'000);
  CHECK(made.fewest_cores == 2);
}

TEST_CASE("a plan for single jobs has the part of the jobs that the policy admits") {
  // The first task leaves .1858 of the bound on its core. The second one needs .2.
  PlanRequest request = by_policies("aub", "worst-fit", {timed(4ms, 10ms), timed(2ms, 10ms)});
  request.tasks[1].offset = 5ms;
  request.jobs = sched::AperiodicPolicy{.admission = sched::When::per_task};
  const Plan per_task = plan(request);
  CHECK(per_task.tasks[0].admitted);
  CHECK(per_task.tasks[0].bound == 10ms);
  CHECK(per_task.tasks[1].jobs_admitted == 0);
  CHECK(per_task.refused == 1);
  CHECK(per_task.accepted == 666'666);
  CHECK_FALSE(per_task.fewest_cores);
  request.jobs = sched::AperiodicPolicy{.admission = sched::When::per_job, .idle_resetting = sched::When::per_job};
  CHECK(plan(request).refused == 0);
  CHECK(plan(request).accepted == sched::whole_core);
}

TEST_CASE("a plan says which part of the utilization is admitted") {
  CHECK(plan(request_of({make_contract(10ms, 4ms)})).accepted == sched::whole_core);
  CHECK(plan(request_of({make_contract(10ms, 2ms), make_contract(10ms, 8ms)})).accepted == 200'000);
  CHECK(plan(request_of({})).accepted == sched::whole_core);
}

TEST_CASE("policies that do not work together, or with this platform, say what to change") {
  PlanRequest request = by_policies("gfb", "worst-fit", {timed(1ms, 2ms)});
  CHECK_FALSE(fault_of(request));
  CHECK_FALSE(fault_of(request_of({make_contract(10ms, 1ms)})));
  SECTION("platform load") {
    request.server.platform.budget = 20us;
    CHECK(fault_of(request).value() ==
          "policy.test = \"gfb\" is for cores that run nothing but the tasks; write budget = \"0us\", blocking = "
          "\"0us\" and capacity = 1 below [platform]");
  }
  SECTION("a delay of timers") {
    request.server.overshoot = 1us;
    CHECK_THAT(fault_of(request).value(), Catch::Contains("leave out the settings"));
  }
  SECTION("a task that suspends itself") {
    request.tasks[0].contract.suspension = 1us;
    CHECK_THAT(fault_of(request).value(), Catch::StartsWith("task task-1 suspends itself"));
  }
  SECTION("a deadline above the period") {
    request.tasks[0].contract.deadline = 3ms;
    CHECK_THAT(fault_of(request).value(), Catch::Contains("has a deadline above its period"));
  }
  SECTION("a task with jitter that may be cut") {
    request = by_policies("qpa", "splitting", {make_contract(10ms, 1ms)});
    CHECK_THAT(fault_of(request).value(), Catch::Contains("has release jitter"));
  }
  SECTION("a policy for jobs with another test") {
    request.jobs.emplace();
    CHECK_THAT(fault_of(request).value(), Catch::StartsWith("policy.aub has a meaning for test = \"aub\" only"));
  }
  SECTION("one of the three policies for jobs that contradict themselves") {
    request = by_policies("aub", "worst-fit", {timed(1ms, 2ms)});
    request.jobs = sched::AperiodicPolicy{.admission = sched::When::per_task, .idle_resetting = sched::When::per_job};
    CHECK_THAT(fault_of(request).value(),
               Catch::StartsWith(
                   "policy.aub: admission per task with idle resetting per job contradicts itself: what a task"));
  }
  SECTION("a task that is cut on cores by priorities") {
    request = by_policies("response-time", "splitting", {timed(1ms, 2ms)});
    CHECK(fault_of(request).value() ==
          "policy.allocation = \"splitting\" cuts tasks for cores that run the earliest deadline first; write test = "
          "\"qpa\"");
  }
}

TEST_CASE("a plan without tasks is empty") {
  const Plan made = plan(request_of({}));
  CHECK(made.tasks.empty());
  CHECK(made.refused == 0);
  CHECK_FALSE(made.growth);
}

}  // namespace plan_test
