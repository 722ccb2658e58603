#include "orb/eval/planning/custom_set.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <string>

#include "orb/base/registry.h"
#include "orb/eval/plan.h"
#include "orb/eval/virtual_run.h"

namespace custom_set_test {

using namespace corelane;
using namespace corelane::eval;
using namespace std::chrono_literals;
using Catch::Contains;
using Catch::StartsWith;
using Allocation = decltype(CustomPolicies::allocation);

namespace {

Task task(const std::string& label, Duration budget, Duration period = 10ms) {
  return {.label = label, .contract = {.period = period, .deadline = period, .budget = budget}};
}

// A plan on cores without any load.
PlanRequest request_of(const CustomPolicies& policies, std::vector<Task> tasks, int cores = 2) {
  PlanRequest request;
  request.tasks = std::move(tasks);
  request.cores = numbered_cores(cores);
  request.server.platform = {};
  request.server.capacity = sched::whole_core;
  request.custom = &policies;
  return request;
}

RunRequest run_of(const PlanRequest& plan) {
  return {.tasks = plan.tasks,
          .cores = plan.cores,
          .dispatcher = find_named(dispatchers(), "mc-orb"),
          .server = plan.server,
          .custom = plan.custom,
          .length = 1s};
}

std::vector<CoreId> cores_of(const Plan& plan) {
  std::vector<CoreId> cores;
  for (const TaskVerdict& verdict : plan.tasks) cores.push_back(verdict.core);
  return cores;
}

// Worst fit: the least loaded core on which the task fits, and the first one of those that are equally loaded.
std::optional<std::size_t> least_loaded(std::span<const CandidateCore> cores, const Task&) {
  const auto budgets = [](const CandidateCore& core) {  // all periods are equal
    Duration sum{};
    for (const Task& each : core.tasks) sum += each.contract.budget;
    return sum;
  };
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < cores.size(); ++i)
    if (cores[i].fits && (!best || budgets(cores[i]) < budgets(cores[*best]))) best = i;
  return best;
}

// Worst fit leaves 3ms and 4ms of 10ms for the last task. If all tasks are packed anew, the largest first, they fit:
// 6ms and 3ms on one core, 5ms and 4ms on the other.
std::vector<Task> tasks_that_fit_if_repacked() {
  return {task("a", 4ms), task("b", 6ms), task("c", 3ms), task("d", 5ms)};
}

// Returns the plan of the same request with built-in policies: worst-fit is the default.
Plan built_in(PlanRequest request, bool repack) {
  request.custom = nullptr;
  request.server.repack = repack;
  return plan(request);
}

std::optional<std::size_t> last_that_fits(std::span<const CandidateCore> cores, const Task&) {
  for (std::size_t i = cores.size(); i-- > 0;)
    if (cores[i].fits) return i;
  return std::nullopt;
}

}  // namespace

TEST_CASE("an allocation that is a function places the tasks") {
  const CustomPolicies policies{.allocation = last_that_fits};
  const PlanRequest request = request_of(policies, {task("a", 4ms), task("b", 4ms), task("c", 4ms)});
  const Plan made = plan(request);
  CHECK(cores_of(made) == std::vector<CoreId>{CoreId{1}, CoreId{1}, CoreId{0}});
  CHECK(made.refused == 0);
  CHECK(made.tasks[1].bound == 8ms);
  CHECK(made.cores[1].tasks == 2);
}

TEST_CASE("a bound does not count tasks that were only tried on the core") {
  const CustomPolicies policies{.allocation = [](std::span<const CandidateCore> cores, const Task&) {
    return std::optional<std::size_t>(cores[0].tasks.empty() ? 0 : 1);
  }};
  const PlanRequest request = request_of(policies, {task("a", 4ms, 20ms), task("b", 2ms, 5ms), task("c", 1ms, 4ms)});
  const Plan made = plan(request);
  REQUIRE(cores_of(made) == std::vector<CoreId>{CoreId{0}, CoreId{1}, CoreId{1}});
  CHECK(made.tasks[0].bound == 4ms);  // with b it would be 8ms
  CHECK(made.tasks[1].bound == 3ms);
  CHECK(made.tasks[2].bound == 1ms);
  CHECK(run_virtually(run_of(request)).tasks[0].bound == 4ms);
}

TEST_CASE("an allocation sees the tasks of each core, and on which cores the task fits") {
  std::vector<std::vector<bool>> fits;
  std::vector<std::size_t> counts;
  const CustomPolicies policies{.allocation = [&](std::span<const CandidateCore> cores, const Task&) {
    fits.push_back({cores[0].fits, cores[1].fits});
    counts.push_back(cores[0].tasks.size());
    return std::optional<std::size_t>(0);
  }};
  const Plan made = plan(request_of(policies, {task("a", 6ms), task("b", 6ms)}));
  CHECK(fits == std::vector<std::vector<bool>>{{true, true}, {false, true}});
  CHECK(counts == std::vector<std::size_t>{0, 1});
  CHECK(made.tasks[0].admitted);
  CHECK_FALSE(made.tasks[1].admitted);  // it chose a core on which the task does not fit
}

TEST_CASE("an allocation that returns no core refuses the task, and the refusal says so") {
  const CustomPolicies policies{
      .allocation = [](std::span<const CandidateCore>, const Task&) { return std::optional<std::size_t>(); }};
  const PlanRequest request = request_of(policies, {task("a", 1ms)});
  const std::string said = "the allocation function returned no core for it; return a core whose `fits` is true";
  CHECK(sched::text_of(plan(request).tasks[0].refusal) == said);
  CHECK(run_virtually(run_of(request)).tasks[0].refusal == said);
}

TEST_CASE("a refusal names the core that the allocation returned if the task does not fit there") {
  const CustomPolicies policies{
      .allocation = [](std::span<const CandidateCore>, const Task&) { return std::optional<std::size_t>(0); }};
  const PlanRequest request = request_of(policies, {task("a", 6ms), task("b", 6ms)});
  const std::string said =
      "the allocation function returned core 0, on which the admission test does not admit it; return a core whose "
      "`fits` is true";
  CHECK(sched::text_of(plan(request).tasks[1].refusal) == said);
  CHECK(run_virtually(run_of(request)).tasks[1].refusal == said);
}

TEST_CASE("a task that fits on no core is refused by the test, whatever the allocation returns") {
  for (const std::optional<std::size_t> second : {std::optional<std::size_t>(), std::optional<std::size_t>(0)}) {
    const CustomPolicies policies{.allocation = [second](std::span<const CandidateCore> cores, const Task&) {
      return cores[0].tasks.empty() ? std::optional<std::size_t>(0) : second;
    }};
    const Plan made = plan(request_of(policies, {task("a", 6ms), task("b", 6ms)}, 1));
    CHECK_THAT(sched::text_of(made.tasks[1].refusal),
               StartsWith("a deadline would be missed on every core; closest is core 0"));
  }
}

TEST_CASE("a built-in allocation packs all tasks anew if a new one does not fit, unless the policy forbids that") {
  const CustomPolicies by_hand{.allocation = least_loaded};
  const PlanRequest request = request_of(by_hand, tasks_that_fit_if_repacked());
  const std::vector<CoreId> unmoved{CoreId{0}, CoreId{1}, CoreId{0}, no_core};
  CHECK(cores_of(plan(request)) == unmoved);
  CHECK(cores_of(built_in(request, false)) == unmoved);
  CHECK(cores_of(built_in(request, true)) == std::vector<CoreId>{CoreId{0}, CoreId{1}, CoreId{1}, CoreId{0}});
}

TEST_CASE("a run moves tasks as the plan does") {
  const CustomPolicies none{};
  RunRequest request = run_of(request_of(none, tasks_that_fit_if_repacked()));
  request.custom = nullptr;
  const auto admitted = [&](bool repack) {
    request.server.repack = repack;
    return std::ranges::count_if(run_virtually(request).tasks, &TaskOutcome::admitted);
  };
  CHECK(admitted(true) == 4);
  CHECK(admitted(false) == 3);
}

TEST_CASE("without repacking, a built-in allocation places all tasks as the same allocation by hand does") {
  const CustomPolicies by_hand{.allocation = least_loaded};
  std::uint32_t state = 1;
  const auto drawn = [&state] {
    state = state * 1'664'525 + 1'013'904'223;
    return state >> 16;
  };
  std::size_t refused = 0, refused_if_repacked = 0;
  for (int set = 0; set < 50; ++set) {
    std::vector<Task> tasks;
    for (int i = 0; i < 8; ++i) tasks.push_back(task("t" + std::to_string(i), Duration{1ms} * (1 + drawn() % 6)));
    PlanRequest request = request_of(by_hand, tasks, 3);
    request.sensitivity = request.fewest = false;
    const Plan unmoved = built_in(request, false);
    REQUIRE(cores_of(plan(request)) == cores_of(unmoved));
    refused += unmoved.refused;
    refused_if_repacked += built_in(request, true).refused;
  }
  CHECK(refused_if_repacked < refused);
}

TEST_CASE("figures of functions are noted to be without repacking, unless the built-in policies have none either") {
  const CustomPolicies policies{.allocation = least_loaded};
  PlanRequest request = request_of(policies, tasks_that_fit_if_repacked());
  const std::vector<std::string> noted{std::string(unmoved_note)};
  CHECK(plan(request).notes == noted);
  CHECK(run_virtually(run_of(request)).notes == noted);
  RunRequest asks_nobody = run_of(request);
  asks_nobody.dispatcher = find_named(dispatchers(), "mc-orb*");
  CHECK(run_virtually(asks_nobody).notes.empty());
  request.server.repack = false;
  CHECK(plan(request).notes.empty());
  CHECK(run_virtually(run_of(request)).notes.empty());
  CHECK(built_in(request, true).notes.empty());
}

TEST_CASE("a refusal by the test names the core that came closest, with the responses there") {
  const CustomPolicies policies{.allocation = [](std::span<const CandidateCore> cores, const Task&) {
    return std::optional<std::size_t>(cores[0].tasks.empty() ? 0 : 1);
  }};
  // Core 0 has no room for c. On core 1 it responds in 7ms + 2 * 4ms.
  const PlanRequest request = request_of(policies, {task("a", 6ms), task("b", 4ms), task("c", 7ms, 14ms)});
  const std::string said =
      "a deadline would be missed on every core; closest is core 1, response 15ms against deadline 14ms; this server "
      "holds of that core: tasks 40.0 %, platform load 0.0 %";
  CHECK(sched::text_of(plan(request).tasks[2].refusal) == said);
  CHECK(run_virtually(run_of(request)).tasks[2].refusal == said);
}

TEST_CASE("a test that is a function gives no reason for a refusal") {
  const CustomPolicies policies{.test = [](std::span<const Task>) { return false; }};
  CHECK(sched::text_of(plan(request_of(policies, {task("a", 1ms)})).tasks[0].refusal) ==
        "the admission test admits it on no core; that test may refuse more tasks than necessary");
}

TEST_CASE("a test that is a function gets the tasks of the core with the new one at the end") {
  std::vector<std::string> asked;
  const CustomPolicies policies{.test = [&](std::span<const Task> tasks) {
    std::string labels;
    for (const Task& each : tasks) labels += each.label;
    asked.push_back(labels);
    return tasks.size() < 2;
  }};
  PlanRequest request = request_of(policies, {task("a", 1ms), task("b", 1ms), task("c", 1ms)}, 1);
  const Plan made = plan(request);
  CHECK(asked == std::vector<std::string>{"a", "ab", "ac"});
  CHECK(made.refused == 2);
  CHECK(made.tasks[0].bound == Duration::zero());  // nothing was computed
}

TEST_CASE("without an allocation of its own, a test is used with that of the scenario") {
  const CustomPolicies policies{.test = [](std::span<const Task>) { return true; }};
  PlanRequest request = request_of(policies, {task("a", 4ms), task("b", 1ms), task("c", 1ms)});
  request.server.allocation = find_named(sched::allocation_strategies(), "worst-fit");
  CHECK(cores_of(plan(request)) == std::vector<CoreId>{CoreId{0}, CoreId{1}, CoreId{1}});
  request.server.allocation = find_named(sched::allocation_strategies(), "first-fit");
  CHECK(cores_of(plan(request)) == std::vector<CoreId>{CoreId{0}, CoreId{0}, CoreId{0}});
}

TEST_CASE("an allocation that goes on from the last placement does so with a test that is a function") {
  const CustomPolicies policies{.test = [](std::span<const Task> tasks) {
    Duration sum{};
    for (const Task& each : tasks) sum += each.contract.budget;
    return sum <= 10ms;
  }};
  PlanRequest request = request_of(policies, {task("a", 6ms), task("b", 6ms), task("c", 3ms), task("d", 3ms)});
  request.server.allocation = find_named(sched::allocation_strategies(), "next-fit");
  CHECK(cores_of(plan(request)) == std::vector<CoreId>{CoreId{0}, CoreId{1}, CoreId{1}, CoreId{0}});
  request.server.allocation = find_named(sched::allocation_strategies(), "first-fit");
  CHECK(cores_of(plan(request)) == std::vector<CoreId>{CoreId{0}, CoreId{1}, CoreId{0}, CoreId{1}});
}

TEST_CASE("the simulator runs what the functions admit, where they put it") {
  const CustomPolicies policies{.allocation = last_that_fits};
  const PlanRequest request = request_of(policies, {task("a", 4ms), task("b", 4ms), task("c", 4ms)});
  const RunOutcome outcome = run_virtually(run_of(request));
  const Plan made = plan(request);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(outcome.tasks[i].core == made.tasks[i].core);
    CHECK(outcome.tasks[i].bound == made.tasks[i].bound);
    CHECK(outcome.tasks[i].worst <= made.tasks[i].bound);
    CHECK(outcome.tasks[i].misses == 0);
  }
  CHECK(outcome.tasks[1].worst == 8ms);
}

TEST_CASE("a test that admits too much leads to misses in the simulator") {
  const CustomPolicies policies{.test = [](std::span<const Task>) { return true; }};
  const RunOutcome outcome = run_virtually(run_of(request_of(policies, {task("a", 6ms), task("b", 6ms)}, 1)));
  CHECK(outcome.tasks[0].misses == 0);  // of two tasks with the same deadline, the first one is more urgent
  CHECK(outcome.tasks[1].misses == outcome.tasks[1].jobs);
  CHECK(outcome.tasks[1].jobs > 0);
}

TEST_CASE("the cores run by deadlines if the scenario's test is one for that") {
  // U = 0.97: fixed priorities miss a deadline of b, deadlines do not.
  const std::vector<Task> tasks{task("a", 2ms, 5ms), task("b", 4ms, 7ms)};
  const CustomPolicies policies{.test = [](std::span<const Task>) { return true; }};
  PlanRequest request = request_of(policies, tasks, 1);
  CHECK(run_virtually(run_of(request)).tasks[1].misses > 0);
  request.server.admission_test = &sched::admission::processor_demand;
  CHECK(run_virtually(run_of(request)).tasks[1].misses == 0);
}

TEST_CASE("a dispatcher that refuses no task does not ask the functions") {
  const CustomPolicies policies{.test = [](std::span<const Task>) -> bool { throw std::string("asked"); }};
  RunRequest request = run_of(request_of(policies, {task("a", 6ms), task("b", 6ms)}, 1));
  request.dispatcher = find_named(dispatchers(), "mc-orb*");
  CHECK(run_virtually(request).tasks[1].admitted);
}

TEST_CASE("an exception of a function reaches the caller") {
  const CustomPolicies policies{.test = [](std::span<const Task>) -> bool { throw std::string("mine"); }};
  const PlanRequest request = request_of(policies, {task("a", 1ms)});
  CHECK_THROWS_AS(plan(request), std::string);
  CHECK_THROWS_AS(run_virtually(run_of(request)), std::string);
}

TEST_CASE("policies that are functions refuse what they cannot work with") {
  const CustomPolicies policies{.allocation = last_that_fits};
  PlanRequest request = request_of(policies, {task("a", 1ms)});
  CHECK(fault_of(request) == std::nullopt);
  SECTION("a platform load") {
    request.server.platform.budget = 1ms;
    CHECK_THAT(*fault_of(request), Contains("a policy that is a function is for cores that run nothing but the tasks"));
  }
  SECTION("a test of all cores") {
    request.server.admission_test = find_named(sched::admission_tests(), "gfb");
    CHECK_THAT(*fault_of(request), Contains("policy.test = \"gfb\" does not work with a policy that is a function"));
  }
  SECTION("an allocation that cuts tasks") {
    request.server.allocation = find_named(sched::allocation_strategies(), "splitting");
    request.server.admission_test = &sched::admission::processor_demand;
    CHECK_THAT(*fault_of(request), Contains("policy.allocation = ") && Contains("leave one out"));
  }
  SECTION("a test, and an allocation that regards caches") {
    const CustomPolicies test{.test = [](std::span<const Task>) { return true; }};
    request.server.allocation = find_named(sched::allocation_strategies(), "cache-aware");
    CHECK(fault_of(request) == std::nullopt);  // the function allocates
    request.custom = &test;
    CHECK_THAT(*fault_of(request),
               Contains("policy.allocation = \"cache-aware\" places tasks by their use of caches") &&
                   Contains("choose another allocation"));
  }
  SECTION("a suspension") {
    request.tasks[0].contract.suspension = 1ms;
    CHECK_THAT(*fault_of(request), Contains("task a suspends itself"));
  }
}

}  // namespace custom_set_test
