#include "orb/eval/experiment/whole_set_run.h"

#include <catch2/catch.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "orb/base/registry.h"
#include "orb/eval/plan.h"
#include "orb/eval/run_requests.h"
#include "orb/eval/scenario_file.h"
#include "orb/eval/virtual_run.h"
#include "orb/sched/allocation_strategy.h"

namespace whole_set_run_test {

using namespace corelane;
using namespace corelane::eval;
using namespace std::chrono_literals;

namespace {

constexpr const char* bare = "[platform]\ncores = 2\nbudget = \"0us\"\nblocking = \"0us\"\ncapacity = 1\n";

Scenario scenario_of(const std::string& text) {
  const auto cells = parse_scenario(text, "s.toml");
  if (!cells) FAIL(cells.error().text);
  return cells->front().scenario;
}

RunOutcome run(const Scenario& scenario, std::int64_t set = 0) {
  auto request = run_request(scenario, set, {});
  if (!request) FAIL(request.error().text);
  request->dispatcher = find_named(dispatchers(), "mc-orb");
  return run_virtually(*request);
}

std::string policy(std::string_view test, std::string_view allocation = "worst-fit") {
  return "[policy]\ntest = \"" + std::string(test) + "\"\nallocation = \"" + std::string(allocation) + "\"\n";
}

}  // namespace

TEST_CASE("a run of a whole set ends early when it is asked to stop") {
  auto request = run_request(scenario_of(std::string(bare) + policy("qpa", "splitting") +
                                         "[[task]]\nperiod = \"10ms\"\nbudget = \"1ms\"\njitter = \"0us\"\n"
                                         "[experiment]\nlength = \"400s\"\n"),
                             0, {});
  if (!request) FAIL(request.error().text);
  request->dispatcher = find_named(dispatchers(), "mc-orb");
  int asked = 0;
  CHECK_FALSE(run_virtually(*request, nullptr, [&] { return ++asked == 2; }));
  CHECK(asked == 2);
}

TEST_CASE("a task that is cut runs on two cores, and ends within its bound") {
  const RunOutcome outcome =
      run(scenario_of(std::string(bare) + policy("qpa", "splitting") +
                      "[[task]]\nperiod = \"100ms\"\nbudget = \"66ms\"\njitter = \"0us\"\ncount = 3\n"));
  for (const TaskOutcome& task : outcome.tasks) {
    CHECK(task.admitted);
    CHECK(task.jobs == 10);
    CHECK(task.misses == 0);
    CHECK(task.worst <= task.bound);
  }
  CHECK(outcome.tasks[2].bound == 98ms);
}

TEST_CASE("a task that the test refuses has no jobs, and the others have the jobs that they have without it") {
  const std::string tasks =
      "[[task]]\nlabel = \"a\"\nperiod = \"10ms\"\nbudget = \"5ms\"\n"
      "[[task]]\nlabel = \"b\"\nperiod = \"10ms\"\nbudget = \"9900us\"\njitter = \"0us\"\n"
      "[[task]]\nlabel = \"c\"\nperiod = \"20ms\"\nbudget = \"1ms\"\n";
  const RunOutcome outcome = run(scenario_of(std::string(bare) + policy("gfb") + tasks));
  CHECK(outcome.tasks[0].admitted);
  CHECK_FALSE(outcome.tasks[1].admitted);
  CHECK(outcome.tasks[1].jobs == 0);
  CHECK_FALSE(outcome.tasks[1].refusal.empty());
  CHECK(outcome.tasks[2].admitted);
  CHECK(outcome.tasks[2].jobs == 50);
}

TEST_CASE("no admitted task misses under policies that no server has, and each response is within its bound") {
  const auto [test, allocation] = GENERATE(table<std::string, std::string>(
      {{"gfb", "worst-fit"}, {"global-fp", "worst-fit"}, {"qpa", "worst-fit"}, {"qpa", "splitting"}}));
  const Scenario scenario = scenario_of("repetitions = 60\n" + std::string(bare) + policy(test, allocation) +
                                        "[generate]\ntasks = 7\nutilization = 1.9\nutilization_max = 0.7\noffsets = "
                                        "\"random\"\narrival = \"sporadic\"\n" +
                                        (allocation == "splitting" ? "jitter = 0\n" : ""));
  std::size_t admitted = 0, refused = 0, wrong = 0;
  for (std::int64_t set = 0; set < scenario.repetitions; ++set)
    for (const TaskOutcome& task : run(scenario, set).tasks) {
      ++(task.admitted ? admitted : refused);
      wrong += task.admitted && (task.misses > 0 || task.worst > task.bound || task.jobs == 0) ? 1 : 0;
    }
  INFO(test << " " << allocation);
  CHECK(wrong == 0);
  CHECK(admitted > 100);
  CHECK(refused > 10);
}

TEST_CASE("policies that cannot be run are refused with what to change") {
  const auto fault_of_run = [](const std::string& text) {
    const auto request = run_request(scenario_of(text + "[[task]]\nperiod = \"10ms\"\nbudget = \"1ms\"\n"), 0,
                                     {.server = {}, .cores = numbered_cores(1)});
    return request ? std::string() : request.error().text;
  };
  CHECK_THAT(fault_of_run(policy("gfb")), Catch::Contains("is for cores that run nothing but the tasks"));
  CHECK_THAT(fault_of_run("[policy]\ntest = \"aub\"\naub = \"J_N_N\"\n"),
             Catch::StartsWith("policy.aub decides about jobs in corelane plan only"));
  CHECK(fault_of_run(policy("liu-layland")).empty());
}

}  // namespace whole_set_run_test
