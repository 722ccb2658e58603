#include "orb/eval/planning/spin_placement.h"

#include <catch2/catch.hpp>

#include "orb/eval/plan.h"
#include "orb/sched/admission_test.h"

namespace spin_placement_test {

using namespace corelane;
using namespace corelane::eval;
using namespace std::chrono_literals;

namespace {

dispatch::ExecutiveOptions bare() {
  dispatch::ExecutiveOptions options;
  options.platform = {};
  options.capacity = sched::whole_core;
  return options;
}

Task task(Duration period, Duration budget, Duration section = 0ms) {
  Task result{.label = "t", .contract = make_contract(period, budget, {}, 0ms)};
  if (section > 0ms) result.contract.uses[0] = use_of("bus", section);
  return result;
}

PlanRequest request_of(std::vector<Task> tasks, int cores) {
  PlanRequest request{.tasks = std::move(tasks), .cores = numbered_cores(cores), .server = bare()};
  request.spin_locks = true;
  return request;
}

}  // namespace

TEST_CASE("tasks that spin have the published responses") {
  const Plan made = plan(request_of({task(100ms, 17ms, 1ms), task(340ms, 67ms, 1ms), task(150ms, 27ms, 1ms)}, 2));
  CHECK(made.tasks[0].core == CoreId{0});
  CHECK(made.tasks[1].core == CoreId{1});
  CHECK(made.tasks[2].core == CoreId{0});
  CHECK(made.tasks[0].bound == 20ms);
  CHECK(made.tasks[1].bound == 68ms);
  CHECK(made.tasks[2].bound == 46ms);
}

TEST_CASE("a server refuses what only spinning allows") {
  PlanRequest request = request_of({task(10ms, 6ms, 1ms), task(10ms, 6ms, 1ms)}, 2);
  CHECK(plan(request).refused == 0);
  request.spin_locks = false;
  CHECK(plan(request).refused == 1);
}

TEST_CASE("a task whose spinning would make another one late is refused, and the other one is named") {
  const dispatch::ExecutiveOptions options = bare();
  SpinPlacement placement(options, numbered_cores(2));
  Task first = task(10ms, 5ms, 1ms);
  first.label = "first";
  first.contract.deadline = 8ms;
  first.requests = 2;
  REQUIRE(placement.admit(first));
  // On the other core, its section of 2 ms costs the first task 4 ms in each job. On the same core there is no room.
  const auto refused = placement.admit(task(40ms, 25ms, 2ms));
  REQUIRE_FALSE(refused);
  const sched::Refusal reason = refused.error();
  CHECK(reason.code == sched::RefusalCode::not_schedulable);
  CHECK(reason.closest == CoreId{1});
  CHECK(std::string(reason.loser_name.data()) == "first");
  CHECK(reason.response == 9ms);
  CHECK(reason.deadline == 8ms);
  CHECK(placement.admit(task(40ms, 25ms)));
}

TEST_CASE("cores are tried in the order of the allocation strategy") {
  dispatch::ExecutiveOptions options = bare();
  const std::vector<CoreId> cores = numbered_cores(3);
  SpinPlacement worst(options, cores);
  for (int i = 0; i < 3; ++i)
    CHECK(worst.core_of(*worst.admit(task(10ms, 1ms))) == CoreId{static_cast<std::int16_t>(i)});
  options.allocation = find_named(sched::allocation_strategies(), "first-fit");
  SpinPlacement first(options, cores);
  for (int i = 0; i < 3; ++i) CHECK(first.core_of(*first.admit(task(10ms, 1ms))) == CoreId{0});
}

TEST_CASE("the cores say what is admitted, with all spinning") {
  const dispatch::ExecutiveOptions options = bare();
  SpinPlacement placement(options, numbered_cores(2));
  REQUIRE(placement.admit(task(10ms, 2ms, 1ms)));
  REQUIRE(placement.admit(task(10ms, 4ms, 1ms)));
  CHECK(placement.cores()[0].admitted == 300'000);
  CHECK(placement.cores()[1].admitted == 500'000);
  CHECK(placement.cores()[0].tasks == 1);
}

TEST_CASE("more cores are found for tasks that spin, and their budgets may grow") {
  const Plan made = plan(request_of({task(10ms, 6ms, 1ms), task(10ms, 6ms, 1ms)}, 2));
  CHECK(made.fewest_cores == 2);
  CHECK(made.growth == 1500);  // 6 ms and 1 ms of spinning, in 10 ms
  CHECK(made.tasks[0].largest_budget == 9ms);
}

TEST_CASE("a server without admission places all tasks and bounds none") {
  PlanRequest request = request_of({task(10ms, 9ms, 1ms), task(10ms, 9ms, 1ms)}, 1);
  request.server.admission_test = &sched::admission::none;
  const Plan made = plan(request);
  CHECK(made.refused == 0);
  CHECK(made.tasks[0].bound == 0ms);
}

}  // namespace spin_placement_test
