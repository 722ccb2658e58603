#include "services/corelane/evaluate/set_runner.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <string>
#include <thread>
#include <vector>

#include "orb/eval/run_requests.h"
#include "orb/eval/scenario_file.h"
#include "orb/eval/virtual_run.h"

namespace set_runner_test {

using namespace corelane;
using namespace corelane::tool;
using namespace std::chrono_literals;

namespace {

eval::Scenario three_sets() {
  const auto cells = eval::parse_scenario(
      "repetitions = 3\n[platform]\ncores = 2\n[generate]\ntasks = 4\nutilization = 1.6\n[experiment]\nlength = "
      "\"200ms\"\n",
      "s.toml");
  if (!cells) FAIL(cells.error().text);
  return cells->front().scenario;
}

}  // namespace

TEST_CASE("a batch of sets ends with its time, and each thread runs at least one set") {
  const eval::Scenario scenario = three_sets();
  const auto dispatchers = eval::dispatchers_of(eval::Scenario{});
  const std::vector<OpenRun> sets{{.set = 0, .dispatchers = dispatchers}, {.set = 1, .dispatchers = dispatchers}};
  const auto runs_within = [&](Duration longest) {
    const RunFunction run = [](const eval::RunRequest& request) { return eval::run_virtually(request); };
    const SetRunner runner(run, {}, 1, longest);
    const auto results = runner.run(scenario, 0, sets, [] { return false; });
    return results ? results->size() : 0;
  };
  CHECK(runs_within(0s) == dispatchers.size());
  CHECK(runs_within(1h) == 2 * dispatchers.size());
}

TEST_CASE("a run that is stopped in its middle has no result, and is no fault") {
  eval::Scenario scenario = three_sets();
  scenario.experiment.length = 100s;
  int runs = 0;
  bool is_asked = false;
  const RunFunction run = [&](const eval::RunRequest& request) -> Expected<eval::RunOutcome, std::string> {
    is_asked = ++runs == 3;  // a signal comes during the third run
    auto outcome = eval::run_virtually(request, nullptr, [&] { return is_asked; });
    if (!outcome) return std::string();
    return *std::move(outcome);
  };
  const auto dispatchers = eval::dispatchers_of(eval::Scenario{});
  REQUIRE(dispatchers.size() == 2);
  const std::vector<OpenRun> sets{{.set = 0, .dispatchers = dispatchers}, {.set = 1, .dispatchers = dispatchers}};
  const auto results = SetRunner(run, {}, 1, 1h).run(scenario, 0, sets, [&] { return is_asked; });
  REQUIRE(results);
  CHECK(results->size() == 2);
  CHECK(runs == 3);
}

// The signal comes when the caller's thread has no set left, and another thread is in the middle of one.
TEST_CASE("the caller's thread asks whether to stop until all threads have ended") {
  const std::thread::id caller = std::this_thread::get_id();
  std::atomic<bool> has_begun{false}, is_asked{false};
  bool is_over = false;  // the caller's set
  const RunFunction run = [&](const eval::RunRequest& request) -> Expected<eval::RunOutcome, std::string> {
    if (std::this_thread::get_id() == caller) {
      has_begun.wait(false);
      is_over = true;
      return eval::run_virtually(request);
    }
    has_begun = true;
    has_begun.notify_all();
    is_asked.wait(false);
    return std::string();
  };
  int questions = 0;  // on the caller's thread, after its set
  const auto is_to_stop = [&] {
    if (std::this_thread::get_id() == caller && is_over && ++questions == 3) {
      is_asked = true;
      is_asked.notify_all();
    }
    return is_asked.load();
  };
  const std::vector<const eval::Dispatcher*> dispatchers{eval::dispatchers_of(eval::Scenario{}).front()};
  const std::vector<OpenRun> sets{{.set = 0, .dispatchers = dispatchers}, {.set = 1, .dispatchers = dispatchers}};
  const auto results = SetRunner(run, {}, 2, 1h).run(three_sets(), 0, sets, is_to_stop);
  REQUIRE(results);
  CHECK(results->size() == 1);
}

}  // namespace set_runner_test
