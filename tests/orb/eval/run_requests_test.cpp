#include "orb/eval/run_requests.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "orb/base/registry.h"
#include "orb/core/contracts/slowdowns.h"
#include "orb/eval/plan.h"
#include "orb/eval/scenario_file.h"
#include "orb/eval/virtual_run.h"

namespace run_requests_test {

using namespace corelane;
using namespace corelane::eval;
using namespace std::chrono_literals;

namespace {

constexpr const char* task_of_file = "[[task]]\nperiod = \"10ms\"\nbudget = \"2ms\"\n";

Scenario scenario_in(const std::string& text) {
  const auto cells = parse_scenario(text + task_of_file, "s.toml");
  if (!cells) FAIL(cells.error().text);
  return cells->front().scenario;
}

std::string scenario_fault(const std::string& text) {
  const auto cells = parse_scenario(text + task_of_file, "s.toml");
  return cells ? "" : cells.error().text;
}

std::vector<std::string_view> names_in(const Scenario& scenario) {
  std::vector<std::string_view> names;
  for (const Dispatcher* const dispatcher : dispatchers_of(scenario)) names.push_back(dispatcher->name);
  return names;
}

}  // namespace

TEST_CASE("an experiment has the values of its file") {
  const Scenario s = scenario_in(R"(
[experiment]
dispatchers = ["mc-orb*", "leader-followers", "direct"]
baseline = "leader-followers"
length = "3s"
transport = "tcp"
note = "Fitted."
[[published]]
dispatcher = "mc-orb*"
values = ["0.1+"]
source = "RTCSA 2009"
)");
  CHECK(names_in(s) == std::vector<std::string_view>{"mc-orb*", "leader-followers", "direct"});
  CHECK(baseline_of(s) == "leader-followers");
  CHECK(s.experiment.length == 3s);
  CHECK(s.experiment.transport == "tcp");
  CHECK(s.experiment.note == "Fitted.");
  REQUIRE(s.published.size() == 1);
  CHECK(s.published[0].values == std::vector<std::string>{"0.1+"});
}

TEST_CASE("a run is a day long at most") {
  const auto request_for = [](const char* length) {
    const Scenario s = scenario_in("[experiment]\nlength = \"" + std::string(length) + "\"\n");
    return run_request(s, 0, {.cores = numbered_cores(1)});
  };
  CHECK(request_for("86400s"));
  for (const char* const length : {"86401s", "9223372036854775807ns"}) {
    const auto request = request_for(length);
    REQUIRE_FALSE(request);
    CHECK(request.error().text.find("is longer than a day") != std::string::npos);
  }
}

TEST_CASE("the jobs of a run are those of its tasks and of the platform load") {
  const auto request = run_request(
      scenario_in("[platform]\ncores = 2\nbudget = \"1us\"\nperiod = \"1ms\"\n[experiment]\nlength = \"21ms\"\n"), 0,
      {});
  REQUIRE(request);
  CHECK(most_jobs_of(*request) == 3 + 2 * 21);
}

TEST_CASE("a run with too many jobs is refused") {
  auto request = run_request(scenario_in("[platform]\ncores = 1\nbudget = \"0us\"\n"), 0, {});
  REQUIRE(request);
  request->length = 10ms * 100'000'000;
  CHECK(fault_of_length(*request) == std::nullopt);
  request->length += 1ns;
  REQUIRE(fault_of_length(*request));
  CHECK_THAT(fault_of_length(*request)->text,
             Catch::Contains("has 100000001 jobs") && Catch::Contains("shorter length"));
}

TEST_CASE("a plan has the platform, the policies and the chains of the scenario") {
  const Scenario s = scenario_in(R"(
[platform]
cores = 3
budget = "7us"
[policy]
allocation = "first-fit"
locks = "msrp"
[[chain]]
label = "control"
tasks = ["task-1", "task-2"]
[[task]]
period = "10ms"
budget = "1ms"
)");
  const auto request = plan_request(s, *tasks_of(s), {});
  REQUIRE(request);
  CHECK(request->tasks.size() == 2);
  CHECK(request->cores.size() == 3);
  CHECK(request->server.platform.budget == 7us);
  CHECK(request->server.allocation->name == "first-fit");
  CHECK(request->spin_locks);
  CHECK(request->chains.size() == 1);
  const Scenario bare = scenario_in("[policy]\ndispatcher = \"leader-followers\"\n");
  const auto refused = plan_request(bare, {}, {});
  REQUIRE_FALSE(refused);
  CHECK_THAT(refused.error().text, Catch::Contains("promises nothing"));
}

TEST_CASE("a refused task is explained as a plan explains it") {
  auto request =
      run_request(scenario_in("[platform]\ncores = 1\n[[task]]\nperiod = \"10ms\"\nbudget = \"9ms\"\n"), 0, {});
  REQUIRE(request);
  request->dispatcher = find_named(dispatchers(), "mc-orb");
  RunOutcome outcome = run_virtually(*request);
  REQUIRE(std::ranges::count(outcome.tasks, false, &TaskOutcome::admitted) == 1);
  explain_refusals(*request, outcome);
  const auto refused = std::ranges::find(outcome.tasks, false, &TaskOutcome::admitted);
  CHECK_THAT(refused->refusal, Catch::Contains("this contract would fit"));
}

TEST_CASE("without a table, an experiment compares mc-orb with mc-orb*") {
  const Scenario s = scenario_in("");
  CHECK(names_in(s) == std::vector<std::string_view>{"mc-orb", "mc-orb*"});
  CHECK(baseline_of(s) == "mc-orb*");
  CHECK(s.experiment.length == 1s);
}

TEST_CASE("an experiment without dispatchers has that of the policy, and mc-orb*") {
  const Scenario s = scenario_in("[policy]\ndispatcher = \"direct\"\n");
  CHECK(names_in(s) == std::vector<std::string_view>{"direct", "mc-orb*"});
  CHECK(single_dispatcher_of(s)->name == "direct");
  RunDefaults defaults;
  defaults.server.mode = dispatch::DispatchMode::leader_followers;
  CHECK(dispatchers_of(scenario_in(""), defaults).front()->name == "leader-followers");
}

TEST_CASE("a single run without a policy's dispatcher has the first one of the experiment") {
  const std::string list = "[experiment]\ndispatchers = [\"leader-followers-pinned\", \"mc-orb\", \"direct\"]\n";
  RunDefaults defaults;
  defaults.server.mode = dispatch::DispatchMode::direct;
  CHECK(single_dispatcher_of(scenario_in(list), defaults)->name == "leader-followers-pinned");
  CHECK(single_dispatcher_of(scenario_in(list + "[policy]\ndispatcher = \"manager\"\n"))->name == "mc-orb");
  CHECK(single_dispatcher_of(scenario_in(""), defaults)->name == "direct");
}

TEST_CASE("a plan without a policy's dispatcher is for the first one of the experiment that refuses tasks") {
  const auto planned = [](const std::string& text) { return plan_request(scenario_in(text), {}, {})->server.mode; };
  CHECK(planned("[experiment]\ndispatchers = [\"leader-followers\", \"direct\"]\n") == dispatch::DispatchMode::direct);
  CHECK(planned("[experiment]\ndispatchers = [\"leader-followers\"]\n") == dispatch::DispatchMode::manager);
}

TEST_CASE("a policy's dispatcher that the experiment does not have is refused") {
  CHECK(scenario_fault("[policy]\ndispatcher = \"manager\"\n[experiment]\ndispatchers = [\"direct\", \"mc-orb*\"]\n") ==
        "s.toml:2:14: policy.dispatcher = \"manager\" is the dispatcher mc-orb, which is none of "
        "experiment.dispatchers; add mc-orb there, or leave policy.dispatcher out");
  CHECK(scenario_fault("[policy]\ndispatcher = \"direct\"\n[experiment]\ndispatchers = [\"mc-orb\", \"direct\"]\n")
            .empty());
}

TEST_CASE("a wrong experiment is refused with its place and what to write") {
  CHECK(scenario_fault("[experiment]\ndispatchers = [\"mc-orb\", \"mcorb\"]\n") ==
        "s.toml:2:26: experiment.dispatchers: expected each element to be one of \"mc-orb\", \"mc-orb*\", \"direct\", "
        "\"leader-followers\", \"leader-followers-pinned\", \"leader-followers-one-core\", "
        "\"leader-followers-allocated\"; the nearest is mc-orb; found \"mcorb\"");
  CHECK_THAT(scenario_fault("[experiment]\ndispatchers = [\n\"direkt\",\n]\n"),
             Catch::StartsWith("s.toml:3:1: experiment.dispatchers: expected each element to be one of \"direct\", "
                               "\"mc-orb\", \"mc-orb*\", \"leader-followers\"") &&
                 Catch::EndsWith("; the nearest is direct; found \"direkt\""));
  CHECK_THAT(scenario_fault("[experiment]\ndispatchers = [\"mc-orb\", 3]\n"),
             Catch::StartsWith("s.toml:2:26: ") && Catch::EndsWith("\"leader-followers-allocated\"; found 3"));
  CHECK(scenario_fault("[experiment]\ndispatchers = \"mc-orb\"\n") ==
        "s.toml:2:15: experiment.dispatchers: expected a list of texts in quotes; found \"mc-orb\"");
  CHECK_THAT(scenario_fault("[experiment]\nlength = \"0s\"\n"), Catch::Contains("expected a duration above 0"));
  CHECK_THAT(scenario_fault("[[published]]\nvalues = [\"1\"]\n"), Catch::Contains("published has no dispatcher"));
  CHECK_THAT(scenario_fault("[published]\nvalues = [\"1\"]\n"), Catch::Contains("write [[published]]"));
  CHECK_THAT(scenario_fault("[[published]]\ndispatcher = \"mc-orb\"\nvalues = []\n"),
             Catch::Contains("expected a list of texts in quotes"));
}

TEST_CASE("a request has what the scenario says, and the defaults for the rest") {
  RunDefaults defaults;
  defaults.cores = numbered_cores(5);
  defaults.server.capacity = 700'000;
  const auto request = run_request(scenario_in("[platform]\nbudget = \"7us\"\n"), 0, defaults);
  REQUIRE(request);
  CHECK(request->cores.size() == 5);
  CHECK(request->server.capacity == 700'000);
  CHECK(request->server.platform.budget == 7us);
  CHECK(request->tasks.size() == 1);
  CHECK(run_request(scenario_in("[platform]\ncores = 3\n"), 0, defaults)->cores.size() == 3);
}

TEST_CASE("sets have seeds of their own") {
  Scenario s = scenario_in("seed = 4\n");
  s.repetitions = 2;
  const auto seed_of = [&](std::int64_t set) { return run_request(s, set, {.cores = numbered_cores(1)})->seed; };
  CHECK(seed_of(0) == seed_of(0));
  CHECK(seed_of(0) != seed_of(1));
}

// So a refusal is explained with the overheads of the dispatcher, not with those of the file's policy.
TEST_CASE("the settings of a server have the mode of the dispatcher, whatever the policy says") {
  for (const Dispatcher* const dispatcher : dispatchers())
    CHECK(server_under(*dispatcher, {}).mode == dispatcher->mode);
}

TEST_CASE("slowdowns are charged as the policy says, and otherwise as the settings do") {
  const std::string pair =
      "[platform]\ncores = 2\n[[slowdown]]\noperation = \"task-1\"\nbeside = \"task-1\"\nfactor = 1.5\n";
  RunDefaults defaults;
  const std::vector<PairSlowdown> of_setting{{.operation = "task-1", .beside = "x", .factor = Fraction{1'700'000}}};
  defaults.server.slowdowns = core::worst_of(of_setting);
  // The factors of the server, and whether tasks are charged by their places.
  const auto charged = [&](const std::string& value) {
    const Scenario s = scenario_in((value.empty() ? "" : "[policy]\ncharge_slowdowns = " + value + "\n") + pair);
    const auto run = run_request(s, 0, defaults);
    const auto planned = plan_request(s, {}, defaults);
    if (!run || !planned) FAIL(value);
    CHECK(run->charge_slowdowns == planned->charged_slowdowns.has_value());
    CHECK((run->server.slowdowns == nullptr) == (planned->server.slowdowns == nullptr));
    const auto& slowdowns = planned->server.slowdowns;
    return std::pair(slowdowns ? slowdowns->of("task-1").factor : 0, run->charge_slowdowns);
  };
  CHECK(charged("") == std::pair(std::int64_t{1'700'000}, false));
  CHECK(charged("false") == std::pair(std::int64_t{0}, false));
  CHECK(charged("true") == std::pair(std::int64_t{0}, true));
  CHECK(charged("\"worst\"") == std::pair(std::int64_t{1'500'000}, false));
}

TEST_CASE("plans and runs move tasks as the policy says") {
  for (const bool repack : {true, false}) {
    const Scenario s = scenario_in(repack ? "" : "[policy]\nrepack = false\n");
    const auto run = run_request(s, 0, {.cores = numbered_cores(1)});
    const auto planned = plan_request(s, {}, {.cores = numbered_cores(1)});
    REQUIRE((run && planned));
    CHECK(run->server.repack == repack);
    CHECK(planned->server.repack == repack);
  }
}

TEST_CASE("a note says which slowdowns budgets include") {
  RunDefaults defaults;
  const auto note = [&defaults](std::vector<std::optional<SlowdownCharge>> charges) {
    std::vector<Scenario> scenarios(charges.size());
    for (std::size_t i = 0; i < charges.size(); ++i) scenarios[i].policy.charge_slowdowns = charges[i];
    const Dispatcher* const refusing = find_named(dispatchers(), "mc-orb");
    return note_of_slowdowns(scenarios, std::span(&refusing, 1), defaults);
  };
  using enum SlowdownCharge;
  CHECK(note({std::nullopt, none}) == "");
  CHECK_THAT(note({placed}), Catch::StartsWith("With policy.charge_slowdowns = true, budgets include slowdowns"));
  CHECK_THAT(note({none, worst}), Catch::StartsWith("With policy.charge_slowdowns = \"worst\", budgets include"));
  CHECK_THAT(note({placed, worst}), Catch::StartsWith("With policy.charge_slowdowns = true or "
                                                      "policy.charge_slowdowns = \"worst\", budgets include"));
  defaults.server.slowdowns = core::worst_of({});
  CHECK_THAT(note({none, std::nullopt}), Catch::StartsWith("With the setting dispatch.slowdowns, budgets include"));
  CHECK(note({none}) == "");
}

TEST_CASE("a mode of the server has a dispatcher") {
  CHECK(dispatcher_of(dispatch::DispatchMode::manager)->name == "mc-orb");
  CHECK(dispatcher_of(dispatch::DispatchMode::direct)->name == "direct");
  CHECK(dispatcher_of(dispatch::DispatchMode::leader_followers)->name == "leader-followers");
}

}  // namespace run_requests_test
