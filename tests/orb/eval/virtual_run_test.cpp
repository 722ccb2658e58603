#include "orb/eval/virtual_run.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <tuple>
#include <vector>

#include "orb/base/registry.h"
#include "orb/eval/plan.h"
#include "orb/sched/allocation_strategy.h"
#include "tests/orb/eval/virtual_requests.h"

namespace virtual_run_test {

using namespace corelane;
using namespace corelane::eval;
using namespace corelane::eval::testing;
using namespace std::chrono_literals;

TEST_CASE("a run ends early when it is asked to stop, and has no outcome then") {
  const char* const dispatcher = GENERATE("mc-orb", "leader-followers");
  const RunRequest request = request_of(tasks_of_pairs({{1ms, 10ms}}), dispatcher, 1, 400s);
  JobCount count;
  int asked = 0;
  CHECK_FALSE(run_virtually(request, &count, [&] { return ++asked == 2; }));
  CHECK(asked == 2);
  CHECK(count.jobs > 0);
  CHECK(count.jobs < 40'000);
}

TEST_CASE("the question whether to stop changes nothing in a run that may go on") {
  const char* const dispatcher = GENERATE("mc-orb", "leader-followers");
  const RunRequest request = request_of(tasks_of_pairs({{1ms, 10ms}}), dispatcher, 1, 100s);
  int asked = 0;
  const auto outcome = run_virtually(request, nullptr, [&] { return ++asked < 0; });
  REQUIRE(outcome);
  CHECK(asked > 0);
  CHECK(outcome->trace_hash == run_virtually(request).trace_hash);
}

TEST_CASE("mc-orb* uses the least loaded core and refuses nothing, whatever the policy's allocation") {
  const auto tasks = tasks_of_pairs({{6ms, 10ms}, {6ms, 10ms}, {6ms, 10ms}, {6ms, 10ms}});
  const RunOutcome usual = run_virtually(request_of(tasks, "mc-orb*", 2));
  for (const char* const name : {"first-fit", "best-fit", "next-fit"}) {
    RunRequest request = request_of(tasks, "mc-orb*", 2);
    request.server.allocation = find_named(sched::allocation_strategies(), name);
    REQUIRE(request.server.allocation != nullptr);
    const RunOutcome outcome = run_virtually(request);
    CHECK(std::ranges::all_of(outcome.tasks, &TaskOutcome::admitted));
    CHECK(std::ranges::count(outcome.tasks, CoreId{0}, &TaskOutcome::core) == 2);
    CHECK(outcome.trace_hash == usual.trace_hash);
  }
}

TEST_CASE("under mc-orb the responses are the published ones, and equal their bounds") {
  const auto tasks = tasks_of_pairs({{1ms, 4ms}, {1ms, 5ms}, {3ms, 9ms}, {3ms, 18ms}});
  const RunOutcome outcome = run_virtually(request_of(tasks, "mc-orb"));
  CHECK(worst_of(outcome) == std::vector<Duration>{1ms, 2ms, 7ms, 18ms});
  for (const TaskOutcome& t : outcome.tasks) {
    CHECK(t.admitted);
    CHECK(t.bound == t.worst);
    CHECK(t.misses == 0);
  }
  CHECK(outcome.tasks[0].jobs == 250);
  CHECK(outcome.misses.empty());
}

TEST_CASE("a task that does not fit is refused by mc-orb, and late under mc-orb*") {
  const auto tasks = tasks_of_pairs({{6ms, 10ms}, {60ms, 100ms}});
  const RunOutcome with = run_virtually(request_of(tasks, "mc-orb"));
  CHECK(with.tasks[0].admitted);
  CHECK_FALSE(with.tasks[1].admitted);
  CHECK_THAT(with.tasks[1].refusal, Catch::Contains("a deadline would be missed"));
  CHECK(with.tasks[1].jobs == 0);
  const RunOutcome without = run_virtually(request_of(tasks, "mc-orb*"));
  CHECK(without.tasks[1].admitted);
  CHECK(without.tasks[1].bound == Duration::zero());
  CHECK(without.tasks[1].misses == without.tasks[1].jobs);
  CHECK(without.tasks[0].misses == 0);
  CHECK(without.misses.front().release == 0ms);
}

TEST_CASE("a job counts if its deadline is within the run") {
  const auto jobs = [](Duration length) {
    return run_virtually(request_of(tasks_of_pairs({{1ms, 10ms}}), "mc-orb", 1, length)).tasks[0].jobs;
  };
  CHECK(jobs(100ms - 1ns) == 9);
  CHECK(jobs(100ms) == 10);
  CHECK(jobs(100ms + 1ns) == 10);
}

TEST_CASE("a job that does not end within the run has missed its deadline") {
  // The second task gets 1 ms of each 10, and needs 4: its first job ends at 40 ms, when the run is over.
  const RunOutcome outcome = run_virtually(request_of(tasks_of_pairs({{9ms, 10ms}, {4ms, 20ms}}), "mc-orb*", 1, 30ms));
  CHECK(outcome.tasks[1].jobs == 1);
  CHECK(outcome.tasks[1].misses == 1);
  REQUIRE(outcome.misses.size() == 1);
  CHECK(outcome.misses[0].finish == Duration::max());
  CHECK(outcome.misses[0].deadline == 20ms);
}

TEST_CASE("records of misses are limited, and their count is not") {
  RunRequest request = request_of(tasks_of_pairs({{6ms, 10ms}, {60ms, 100ms}}), "mc-orb*");
  request.most_misses = 3;
  const RunOutcome outcome = run_virtually(request);
  CHECK(outcome.misses.size() == 3);
  CHECK(outcome.tasks[1].misses > 3);
}

// The published bounds of these tasks are 1, 1, 4, 15 and 1, 1, 3, 12. A run from a common start reaches the first
// three.
TEST_CASE("unbound leader-followers are global fixed priorities") {
  const auto tasks = tasks_of_pairs({{1ms, 4ms}, {1ms, 5ms}, {3ms, 9ms}, {9ms, 18ms}});
  CHECK(worst_of(run_virtually(request_of(tasks, "leader-followers", 2))) ==
        std::vector<Duration>{1ms, 1ms, 4ms, 14ms});
  CHECK(worst_of(run_virtually(request_of(tasks, "leader-followers", 3))) ==
        std::vector<Duration>{1ms, 1ms, 3ms, 10ms});
}

TEST_CASE("pinned leader-followers place the tasks in turn, and refuse none") {
  const auto tasks = tasks_of_pairs({{9ms, 10ms}, {1ms, 10ms}, {9ms, 10ms}, {1ms, 10ms}});
  const RunOutcome outcome = run_virtually(request_of(tasks, "leader-followers-pinned", 2));
  CHECK(outcome.tasks[0].core == CoreId{0});
  CHECK(outcome.tasks[1].core == CoreId{1});
  CHECK(outcome.tasks[2].core == CoreId{0});
  CHECK(outcome.tasks[2].misses > 0);
  CHECK(outcome.tasks[1].misses + outcome.tasks[3].misses == 0);
  CHECK(run_virtually(request_of(tasks, "mc-orb*", 2)).misses.empty());
}

TEST_CASE("allocated leader-followers place each task on the least loaded core, and refuse none") {
  const auto tasks = tasks_of_pairs({{9ms, 10ms}, {1ms, 10ms}, {7ms, 10ms}, {1ms, 10ms}, {9ms, 10ms}});
  const RunOutcome outcome = run_virtually(request_of(tasks, "leader-followers-allocated", 2));
  std::vector<CoreId> cores;
  for (const TaskOutcome& task : outcome.tasks) cores.push_back(task.core);
  CHECK(cores == std::vector<CoreId>{CoreId{0}, CoreId{1}, CoreId{1}, CoreId{1}, CoreId{0}});
  CHECK(outcome.tasks[4].admitted);
  CHECK(outcome.tasks[4].misses > 0);
}

TEST_CASE("leader-followers on one core leave the others idle") {
  const auto tasks = tasks_of_pairs({{6ms, 10ms}, {6ms, 10ms}});
  CHECK(run_virtually(request_of(tasks, "leader-followers-one-core", 2)).tasks[1].misses > 0);
  CHECK(run_virtually(request_of(tasks, "leader-followers", 2)).tasks[1].misses == 0);
}

TEST_CASE("platform load delays tasks under every dispatcher alike") {
  for (const Dispatcher* const dispatcher : dispatchers()) {
    RunRequest request = request_of(tasks_of_pairs({{20ms, 50ms}}), "mc-orb");
    request.dispatcher = dispatcher;
    request.server.platform = {.budget = 1ms, .period = 10ms};
    CAPTURE(dispatcher->name);
    CHECK(run_virtually(request).tasks[0].worst == 23ms);
  }
}

TEST_CASE("a job that executes longer than its budget is a miss by an overrun") {
  RunRequest request = request_of(tasks_of_pairs({{5ms, 10ms}}), "mc-orb");
  request.tasks[0].execution.trace = {1ms, 12ms, 1ms};
  const RunOutcome outcome = run_virtually(request);
  REQUIRE_FALSE(outcome.misses.empty());
  CHECK(outcome.misses[0].number == 1);
  CHECK(outcome.misses[0].cause == MissCause::overrun);
  CHECK(outcome.tasks[0].overruns > 0);
}

TEST_CASE("the same request has the same trace, and another seed another one") {
  const Scenario scenario = drawn_scenario("1.6");
  for (const char* const dispatcher : {"mc-orb", "leader-followers"}) {
    RunRequest request = drawn_request(scenario, 0, dispatcher);
    const std::uint64_t hash = run_virtually(request).trace_hash;
    CHECK(run_virtually(request).trace_hash == hash);
    ++request.seed;
    CHECK(run_virtually(request).trace_hash != hash);
  }
}

TEST_CASE("all dispatchers get the same jobs") {
  struct Demands final : sim::JobObserver {
    void finished(const sim::FinishedJob& job) override {
      if (job.number < 2) jobs.emplace_back(job.task, job.number, job.release, job.demand);
    }
    std::vector<std::tuple<std::size_t, std::uint64_t, Time, Duration>> jobs;
  };
  const Scenario scenario = drawn_scenario("1.0");
  std::vector<std::tuple<std::size_t, std::uint64_t, Time, Duration>> first;
  for (const char* const dispatcher : {"mc-orb", "mc-orb*", "leader-followers", "leader-followers-pinned"}) {
    Demands demands;
    run_virtually(drawn_request(scenario, 3, dispatcher), &demands);
    std::ranges::sort(demands.jobs);
    if (first.empty()) first = demands.jobs;
    CAPTURE(dispatcher);
    CHECK(demands.jobs == first);
    CHECK(first.size() == 16);
  }
}

TEST_CASE("no admitted task is late, and no response exceeds its bound") {
  for (const char* const utilization : {"1.2", "1.6", "1.9"}) {
    const Scenario scenario = drawn_scenario(utilization);
    for (std::int64_t set = 0; set < scenario.repetitions; ++set) {
      const RunOutcome outcome = run_virtually(drawn_request(scenario, set, "mc-orb"));
      for (const TaskOutcome& t : outcome.tasks) {
        CAPTURE(utilization, set, t.label);
        CHECK(t.misses == 0);
        CHECK(t.worst <= t.bound);
      }
    }
  }
}

// The bound of a plan is the largest one in the life of the task. It is larger than that of the run if tasks had to
// move.
TEST_CASE("a run and a plan admit the same tasks, on the same cores, with the same bounds") {
  const Scenario scenario = drawn_scenario("1.8");
  std::size_t tasks = 0, equal = 0;
  for (std::int64_t set = 0; set < scenario.repetitions; ++set) {
    const RunRequest request = drawn_request(scenario, set, "mc-orb");
    const RunOutcome outcome = run_virtually(request);
    const Plan planned = plan({.tasks = request.tasks,
                               .cores = request.cores,
                               .server = request.server,
                               .sensitivity = false,
                               .fewest = false});
    for (std::size_t i = 0; i < request.tasks.size(); ++i) {
      CAPTURE(set, i);
      CHECK(outcome.tasks[i].admitted == planned.tasks[i].admitted);
      CHECK(outcome.tasks[i].core == planned.tasks[i].core);
      CHECK(outcome.tasks[i].bound <= planned.tasks[i].bound);
      ++tasks;
      if (outcome.tasks[i].bound == planned.tasks[i].bound) ++equal;
    }
    CHECK(outcome.notes.empty());
  }
  CHECK(tasks == 800);
  CHECK(equal > 700);
}

TEST_CASE("suspensions are run under the manager, and named where they are not") {
  std::vector<Task> tasks = tasks_of_pairs({{2ms, 20ms}});
  tasks[0].contract.suspension = 5ms;
  const RunOutcome outcome = run_virtually(request_of(tasks, "mc-orb"));
  CHECK(outcome.tasks[0].worst == 7ms);
  CHECK(outcome.notes.empty());
  CHECK(run_virtually(request_of(tasks, "leader-followers")).notes.size() == 1);
}

}  // namespace virtual_run_test
