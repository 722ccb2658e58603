#include "orb/eval/run_overheads.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <fstream>
#include <string>

#include "orb/base/registry.h"
#include "orb/eval/plan.h"
#include "orb/eval/scenario_file.h"
#include "orb/sched/admission_test.h"
#include "orb/sched/share.h"
#include "tests/support/system/temp_directory.h"

namespace run_overheads_test {

using namespace corelane;
using namespace corelane::eval;
using namespace std::chrono_literals;
using corelane::testing::TempDirectory;
using dispatch::DispatchMode;

namespace {

constexpr const char* task_text = "[[task]]\nlabel = \"a\"\nperiod = \"10ms\"\nbudget = \"2ms\"\njitter = \"0us\"\n";

RunOverheads each_kind() {
  return {.costs = {.release = 10us, .dispatch = 20us, .hop = 40us, .preemption = 80us, .migration = 160us}};
}

std::vector<Cell> cells_in(const std::string& text, const std::string& path = "s.toml") {
  auto cells = parse_scenario(task_text + text, path);
  if (!cells) FAIL(cells.error().text);
  return *std::move(cells);
}

RunOverheads overheads_of_text(const std::string& text, std::size_t tasks = 1) {
  return run_overheads(cells_in(text).front().scenario, tasks);
}

std::string fault_of_text(const std::string& text) {
  const auto cells = parse_scenario(task_text + text, "s.toml");
  return cells ? "" : cells.error().text;
}

PlanRequest request_on_bare_core(const Contract& contract) {
  PlanRequest request;
  request.tasks = {{.label = "a", .contract = contract}};
  request.cores = numbered_cores(1);
  request.server.platform = {};
  request.server.capacity = sched::whole_core;
  request.overheads = each_kind();
  return request;
}

}  // namespace

TEST_CASE("a job has a release, a hop, a preemption and two dispatches, in whole microseconds") {
  CHECK(each_kind().per_job() == 170us);
  CHECK(RunOverheads{.costs = {.hop = 20'571ns}}.per_job() == 21us);
  CHECK(RunOverheads{.costs = {.dispatch = 500ns}}.per_job() == 1us);
  CHECK(RunOverheads{.costs = {.migration = 5us}}.per_job() == 0us);
  CHECK(RunOverheads{}.per_job() == 0us);
}

TEST_CASE("overheads that are not charged are in no budget") {
  RunOverheads overheads = each_kind();
  CHECK(overheads.charge_per_job() == 170us);
  overheads.charged = false;
  CHECK(overheads.charge_per_job() == 0us);
  CHECK(overheads.per_job() == 170us);
}

TEST_CASE("only the manager hands jobs over") {
  CHECK(overheads_in(DispatchMode::manager, each_kind()).per_job() == 170us);
  CHECK(overheads_in(DispatchMode::direct, each_kind()).per_job() == 130us);
  CHECK(overheads_in(DispatchMode::leader_followers, each_kind()).per_job() == 130us);
}

TEST_CASE("the text says what the analysis charges, and what it does not") {
  RunOverheads overheads = each_kind();
  CHECK(text_of(overheads) ==
        "overheads charged by the analysis: release 10us, dispatch 20us twice, hop 40us, preemption 80us; 170us on top "
        "of "
        "each budget; not charged by the analysis: migration 160us");
  overheads.charged = false;
  CHECK(text_of(overheads) ==
        "overheads not charged by the analysis: release 10us, dispatch 20us, hop 40us, preemption 80us, migration "
        "160us");
  CHECK(text_of(RunOverheads{}).empty());
  CHECK(text_of(RunOverheads{.costs = {.migration = 5us}}) == "overheads not charged by the analysis: migration 5us");
  CHECK(text_of(RunOverheads{.costs = {.hop = 3us}, .blocking = 70us}) ==
        "overheads charged by the analysis: hop 3us; 3us on top of each budget; wake-ups 70us late, charged as "
        "blocking, and "
        "not simulated");
}

TEST_CASE("a scenario has overheads, and a sweep may change them") {
  const auto cells = cells_in(
      "[overheads]\ndispatch = \"3us\"\ncharged = false\n"
      "[[sweep]]\nfield = \"overheads.hop\"\nvalues = [\"5us\", \"7us\"]\n"
      "[[sweep]]\nfield = \"overheads.charged\"\nvalues = [true, false]\n");
  REQUIRE(cells.size() == 4);
  CHECK(run_overheads(cells[0].scenario, 1).per_job() == 11us);
  CHECK(run_overheads(cells[0].scenario, 1).charged);
  CHECK_FALSE(run_overheads(cells[1].scenario, 1).charged);
  CHECK(run_overheads(cells[3].scenario, 1).per_job() == 13us);
  CHECK(cells[1].swept.back().second == "false");
  CHECK(overheads_of_text("").per_job() == 0us);
  CHECK(overheads_of_text("[overheads]\nrelease = \"1us\"\n").charged);
}

TEST_CASE("a wrong overhead is refused with its place and what to write") {
  CHECK(fault_of_text("[overheads]\ncharged = \"yes\"\n") ==
        "s.toml:7:11: overheads.charged: expected true or false, without quotes; found \"yes\"");
  CHECK(fault_of_text("[overheads]\nhop = \"2s\"\n") ==
        "s.toml:7:7: overheads.hop = 2s is more than 1s; write the time of one occurrence");
  CHECK_THAT(fault_of_text("[overheads]\nhops = \"2us\"\n"), Catch::Contains("the nearest is hop"));
  CHECK_THAT(fault_of_text("[overheads]\nfrom = \"none.csv\"\n"),
             Catch::Contains("s.toml: overheads.from: none.csv does not exist; measure this host"));
}

TEST_CASE("overheads come from a table beside the scenario, by the number of its tasks, and fields replace them") {
  const TempDirectory place;
  std::ofstream(place / "costs.csv")
      << "TASK-COUNT, RELEASE, SCHEDULE, CXS, IPI-LATENCY\n1, 2, 1, 0.5, 4\n9, 10, 1, 0.5, 4\n";
  const auto cells = cells_in("[overheads]\nfrom = \"costs.csv\"\npreemption = \"1us\"\n", place / "s.toml");
  const Scenario& scenario = cells.front().scenario;
  CHECK(run_overheads(scenario, 1).costs.release.most() == 2us);
  CHECK(run_overheads(scenario, 5).costs.release.most() == 6us);
  CHECK(run_overheads(scenario, 1).per_job() == 2us + 3us + 4us + 1us);
}

TEST_CASE("a plan charges overheads on top of each budget and in the platform's blocking") {
  PlanRequest request = request_on_bare_core(make_contract(10ms, 2ms, {}, 0ms));
  request.overheads.blocking = 30us;
  const Plan charged = plan(request);
  CHECK(charged.tasks[0].task.contract.budget == 2ms);
  CHECK(charged.tasks[0].utilization == 217'000);
  CHECK(charged.tasks[0].bound == 2200us);
  request.overheads.charged = false;
  CHECK(plan(request).tasks[0].bound == 2ms);
  request.overheads.charged = true;
  request.server.mode = DispatchMode::direct;
  CHECK(plan(request).tasks[0].bound == 2160us);
}

TEST_CASE("a plan charges overheads once, also where chains limit how much a budget may grow") {
  PlanRequest request = request_on_bare_core(make_contract(10ms, 2ms, {}, 0ms));
  const Plan alone = plan(request);
  request.chains = {{.label = "c", .tasks = {"a"}, .deadline = 5ms}};
  const Plan limited = plan(request);
  REQUIRE((alone.tasks[0].largest_budget && limited.tasks[0].largest_budget));
  CHECK(*alone.tasks[0].largest_budget > 9800us);
  CHECK(*alone.tasks[0].largest_budget <= 9830us);
  CHECK(*limited.tasks[0].largest_budget > 4800us);
  CHECK(*limited.tasks[0].largest_budget <= 4830us);
}

TEST_CASE("the largest budget of a plan with overheads is admitted when it is pasted, and a larger one is not") {
  PlanRequest request = request_on_bare_core(make_contract(10ms, 2ms, {}, 0ms));
  request.tasks.push_back({.label = "b", .contract = make_contract(40ms, 8ms, {}, 0ms)});
  const Plan made = plan(request);
  for (std::size_t i = 0; i < request.tasks.size(); ++i) {
    REQUIRE(made.tasks[i].largest_budget);
    PlanRequest pasted = request;
    pasted.tasks[i].contract.budget = *made.tasks[i].largest_budget;
    CHECK(plan(pasted).refused == 0);
    pasted.tasks[i].contract.budget += 100us;
    CHECK(plan(pasted).refused == 1);
  }
}

TEST_CASE("overheads do not grow with the budgets") {
  const Plan made = plan(request_on_bare_core(make_contract(10ms, 1ms, {}, 0ms)));
  CHECK(made.growth == 9830);
}

TEST_CASE("a task whose overheads exceed its deadline is refused") {
  const Plan made = plan(request_on_bare_core(make_contract(10ms, 9900us, {}, 0ms)));
  CHECK(made.refused == 1);
  CHECK(made.tasks[0].refusal.code == sched::RefusalCode::not_schedulable);
  CHECK(made.tasks[0].refusal.response == 10'070us);
}

TEST_CASE("the proposal of a plan with overheads is admitted when it is pasted") {
  PlanRequest request = request_on_bare_core(make_contract(10ms, 6ms, {}, 0ms));
  const Contract other = make_contract(20ms, 9ms, {}, 0ms);
  request.tasks.push_back({.label = "b", .contract = other});
  const Plan refused = plan(request);
  REQUIRE(refused.refused == 1);
  const sched::Nearest& nearest = refused.tasks[1].refusal.nearest;
  REQUIRE(nearest.found());
  Contract pasted = other;
  pasted.period = nearest.period;
  pasted.deadline = nearest.deadline;
  pasted.budget = nearest.budget;
  pasted.jitter = nearest.jitter;
  request.tasks[1].contract = pasted;
  CHECK(plan(request).refused == 0);
}

TEST_CASE("a policy without an analysis of overheads cannot charge them") {
  PlanRequest request = request_on_bare_core(make_contract(10ms, 2ms, {}, 0ms));
  request.server.admission_test = find_named(sched::admission_tests(), "gfb");
  CHECK_THAT(fault_of(request).value_or(""), Catch::Contains("write charged = false below [overheads]"));
  request.overheads.charged = false;
  CHECK_FALSE(fault_of(request));
}

}  // namespace run_overheads_test
