#include "orb/eval/virtual_run.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "orb/base/registry.h"
#include "orb/eval/plan.h"
#include "orb/eval/run_requests.h"
#include "orb/eval/scenario_file.h"
#include "orb/sched/admission_test.h"
#include "orb/sched/allocation_strategy.h"
#include "orb/sched/share.h"

namespace virtual_run_test {

using namespace corelane;
using namespace corelane::eval;
using namespace std::chrono_literals;

namespace {

Task task(const std::string& label, Duration budget, Duration period) {
  return {.label = label, .contract = {.period = period, .deadline = period, .budget = budget}};
}

// A request on cores without any load.
RunRequest request_of(std::vector<Task> tasks, const char* dispatcher, int cores = 1, Duration length = 1s) {
  RunRequest request{.tasks = std::move(tasks),
                     .cores = numbered_cores(cores),
                     .dispatcher = find_named(dispatchers(), dispatcher),
                     .length = length};
  request.server.platform = {};
  request.server.capacity = sched::whole_core;
  return request;
}

std::vector<Task> tasks_of_pairs(std::initializer_list<std::pair<Duration, Duration>> pairs) {
  std::vector<Task> tasks;
  for (const auto& [budget, period] : pairs) tasks.push_back(task("t" + std::to_string(tasks.size()), budget, period));
  return tasks;
}

std::vector<Duration> worst_of(const RunOutcome& outcome) {
  std::vector<Duration> worst;
  for (const TaskOutcome& task : outcome.tasks) worst.push_back(task.worst);
  return worst;
}

// Draws sets of eight tasks for two cores, with jitter and platform load as in a server.
Scenario drawn_scenario(const std::string& utilization) {
  const auto cells =
      parse_scenario("repetitions = 100\n[platform]\ncores = 2\n[generate]\ntasks = 8\nutilization = " + utilization +
                         "\narrival = \"sporadic\"\nexecution_min = 0.5\n[experiment]\nlength = \"500ms\"\n",
                     "s.toml");
  if (!cells) FAIL(cells.error().text);
  return cells->front().scenario;
}

RunRequest drawn_request(const Scenario& scenario, std::int64_t set, const char* dispatcher) {
  auto request = run_request(scenario, set, {});
  if (!request) FAIL(request.error().text);
  request->dispatcher = find_named(dispatchers(), dispatcher);
  return *std::move(request);
}

sim::Overheads each_overhead() {
  return {.release = 10us, .dispatch = 20us, .hop = 40us, .preemption = 80us, .migration = 160us};
}

// A task that is preempted once, and the one that preempts it.
RunRequest preempted_request(const char* dispatcher) {
  RunRequest request = request_of(tasks_of_pairs({{1ms, 4ms}, {5ms, 20ms}}), dispatcher);
  request.overheads.costs = each_overhead();
  return request;
}

struct JobCount final : sim::JobObserver {
  void finished(const sim::FinishedJob&) override { ++jobs; }
  std::uint64_t jobs = 0;
};

}  // namespace

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

TEST_CASE("intensive tasks that share a cache slow each other down unless they are placed by caches") {
  auto tasks = tasks_of_pairs({{4ms, 10ms}, {4ms, 10ms}});
  for (Task& task : tasks) task.contract.intensity = 40;
  RunRequest request = request_of(tasks, "mc-orb", 2);
  request.slowdowns = SlowdownTable({}, Fraction{1'500'000});
  CHECK(worst_of(run_virtually(request)) == std::vector<Duration>{6ms, 6ms});
  request.server.allocation = find_named(sched::allocation_strategies(), "cache-aware");
  CHECK(worst_of(run_virtually(request)) == std::vector<Duration>{4ms, 8ms});
  request.server.cache_domains = 2;
  const RunOutcome apart = run_virtually(request);
  CHECK(worst_of(apart) == std::vector<Duration>{4ms, 4ms});
  CHECK(apart.notes.empty());
  request.dispatcher = find_named(dispatchers(), "leader-followers");
  CHECK(run_virtually(request).notes == std::vector<std::string>{"slowdowns have no effect under leader-followers"});
}

TEST_CASE("each pair of tasks has its own slowdown, and budgets that include it hold") {
  RunRequest request = request_of(tasks_of_pairs({{4ms, 10ms}, {4ms, 10ms}}), "mc-orb", 2);
  const std::vector<PairSlowdown> pairs{{.operation = "t0", .beside = "t1", .factor = Fraction{1'500'000}},
                                        {.operation = "t1", .beside = "t0", .factor = Fraction{1'250'000}}};
  request.slowdowns = SlowdownTable(pairs, unity);
  // t1 ends at 5 ms. By then t0 has executed for 3,333,333 ns, and continues alone.
  const std::vector<Duration> expected{5'666'667ns, 5ms};
  CHECK(worst_of(run_virtually(request)) == expected);
  request.charge_slowdowns = true;
  const RunOutcome charged = run_virtually(request);
  CHECK(worst_of(charged) == expected);
  CHECK(charged.tasks[0].bound == 6ms);
  CHECK(charged.tasks[1].bound == 5ms);
  CHECK(charged.tasks[1].overruns == 0);
  CHECK_THAT(charged.notes.at(0), Catch::Contains("which are estimates"));
}

TEST_CASE("a task that would make another one late by slowing it down is refused, and does not run") {
  RunRequest request = request_of(tasks_of_pairs({{7ms, 10ms}, {6ms, 10ms}}), "mc-orb", 2);
  const std::vector<PairSlowdown> pairs{{.operation = "t0", .beside = "t1", .factor = Fraction{1'500'000}}};
  request.slowdowns = SlowdownTable(pairs, unity);
  CHECK(worst_of(run_virtually(request)) == std::vector<Duration>{9ms, 6ms});
  request.charge_slowdowns = true;
  const RunOutcome charged = run_virtually(request);
  CHECK(worst_of(charged) == std::vector<Duration>{7ms, 0ms});
  CHECK(charged.tasks[0].admitted);
  CHECK_FALSE(charged.tasks[1].admitted);
  CHECK_THAT(charged.tasks[1].refusal,
             Catch::Contains("the admission test admits it on no core") &&
                 Catch::Contains("; if it ran on core 1, t0 would be analyzed with a budget of "
                                 "10500us in place of 7ms: t1 on another core"));
  CHECK(charged.tasks[1].jobs == 0);
}

// t0 and t2 share core 0, and t1 runs beside them. t2 executes under its slowdown all the time, in two parts of 3.3 ms
// and 1.8 ms. The first part is no whole number of nanoseconds of its demand.
TEST_CASE("a job that is preempted while it is slowed down needs no more than its charged budget") {
  for (const char* const test : {"response-time", "qpa"}) {
    CAPTURE(test);
    RunRequest request = request_of(tasks_of_pairs({{1ms, 5ms}, {8ms, 20ms}, {3ms, 20ms}}), "mc-orb", 2);
    for (Task& task : request.tasks) {
      task.contract.on_overrun = OverrunPolicy::cancel;
      task.contract.intensity = 40;
    }
    request.server.admission_test = find_named(sched::admission_tests(), test);
    request.slowdowns = SlowdownTable({}, Fraction{1'700'000});
    request.charge_slowdowns = true;
    const RunOutcome outcome = run_virtually(request);
    CHECK(worst_of(outcome) == std::vector<Duration>{1700us, 12200us, 8500us});
    for (const TaskOutcome& t : outcome.tasks) {
      CHECK(t.admitted);
      CHECK(t.overruns == 0);
      CHECK(t.misses == 0);
    }
  }
}

TEST_CASE("a run ends early while budgets that include slowdowns are computed") {
  RunRequest request = request_of(tasks_of_pairs({{1ms, 10ms}, {1ms, 10ms}, {1ms, 10ms}}), "mc-orb", 2);
  request.slowdowns = SlowdownTable({}, Fraction{1'500'000});
  request.charge_slowdowns = true;
  JobCount count;
  int asked = 0;
  CHECK_FALSE(run_virtually(request, &count, [&] { return ++asked == 3; }));
  CHECK(asked == 3);
  CHECK(count.jobs == 0);
}

TEST_CASE("a table of tasks that is full is the reason of a refusal, also with slowdowns") {
  RunRequest request = request_of(tasks_of_pairs({{1ms, 10ms}, {1ms, 10ms}}), "mc-orb", 2);
  request.server.max_tasks = 1;
  const std::string plainly = run_virtually(request).tasks[1].refusal;
  CHECK_THAT(plainly, Catch::Contains("table of tasks is full"));
  request.slowdowns = SlowdownTable({}, Fraction{1'500'000});
  request.charge_slowdowns = true;
  const RunOutcome charged = run_virtually(request);
  CHECK(charged.tasks[0].admitted);
  CHECK(charged.tasks[1].refusal == plainly);
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

// Each job is 170 us longer: release, hop, preemption and two dispatches.
TEST_CASE("under mc-orb a job is longer by the overheads that the analysis charges") {
  const RunOutcome outcome = run_virtually(preempted_request("mc-orb"));
  CHECK(worst_of(outcome) == std::vector<Duration>{1170us, 7510us});
  for (const TaskOutcome& t : outcome.tasks) {
    CHECK(t.bound == t.worst);
    CHECK(t.overruns == 0);
  }
  CHECK(worst_of(run_virtually(preempted_request("mc-orb*"))) == std::vector<Duration>{1170us, 7510us});
}

TEST_CASE("under direct there is no hop") {
  CHECK(worst_of(run_virtually(preempted_request("direct"))) == std::vector<Duration>{1130us, 7390us});
}

// At 0 two releases stop the core for 20 us. The second task has 2060 us left when it is preempted at 4010 us. It goes
// on at 5030 us, with a dispatch and a preemption.
TEST_CASE("under leader-followers each overhead counts when it occurs, and there is no hop") {
  for (const char* const form : {"leader-followers", "leader-followers-pinned", "leader-followers-one-core"}) {
    CAPTURE(form);
    CHECK(worst_of(run_virtually(preempted_request(form))) == std::vector<Duration>{1040us, 7190us});
  }
}

// As above, and each job costs a migration when it begins: the more urgent task has two jobs in the other's response.
TEST_CASE("under allocated leader-followers each job costs a migration instead of a hop") {
  RunRequest request = preempted_request("leader-followers-allocated");
  const Duration migration = 1us;
  request.overheads.costs.migration = {migration};
  CHECK(worst_of(run_virtually(request)) == std::vector<Duration>{1040us + migration, 7190us + 3 * migration});
}

TEST_CASE("under a global test each overhead counts when it occurs") {
  RunRequest request = request_of(tasks_of_pairs({{2ms, 10ms}}), "mc-orb");
  request.server.admission_test = find_named(sched::admission_tests(), "gfb");
  request.overheads = {.costs = each_overhead(), .charged = false};
  CHECK(worst_of(run_virtually(request)) == std::vector<Duration>{2070us});
}

TEST_CASE("the platform load has no overheads of its own") {
  RunRequest request = request_of(tasks_of_pairs({{20ms, 50ms}}), "leader-followers");
  request.server.platform = {.budget = 1ms, .period = 10ms};
  request.overheads.costs = {.dispatch = 50us, .hop = 1ms, .preemption = 100us};
  CHECK(run_virtually(request).tasks[0].worst == 23ms + 350us);  // it is dispatched three times, and preempted twice
}

TEST_CASE("overheads that are not charged make admitted jobs overrun and miss") {
  RunRequest request = request_of(tasks_of_pairs({{9900us, 10ms}}), "mc-orb");
  request.overheads.costs = each_overhead();
  CHECK_FALSE(run_virtually(request).tasks[0].admitted);
  request.overheads.charged = false;
  const RunOutcome outcome = run_virtually(request);
  CHECK(outcome.tasks[0].admitted);
  CHECK(outcome.tasks[0].bound == 9900us);
  CHECK(outcome.tasks[0].misses == outcome.tasks[0].jobs);
  CHECK(outcome.tasks[0].overruns > 0);
  CHECK(outcome.misses.front().cause == MissCause::scheduling);
}

TEST_CASE("no admitted task is late if overheads are charged, and some are if not") {
  const Scenario scenario = drawn_scenario("1.6");
  std::uint64_t misses = 0, admitted = 0;
  for (std::int64_t set = 0; set < scenario.repetitions; ++set) {
    RunRequest request = drawn_request(scenario, set, set % 2 == 0 ? "mc-orb" : "direct");
    request.overheads.costs = {.release = 1ms, .dispatch = 1ms, .preemption = 1ms};
    for (const TaskOutcome& t : run_virtually(request).tasks) {
      CAPTURE(set, t.label);
      CHECK(t.misses == 0);
      CHECK(t.worst <= t.bound);
      if (t.admitted) ++admitted;
    }
    request.overheads.charged = false;
    for (const TaskOutcome& t : run_virtually(request).tasks) misses += t.misses;
  }
  CHECK(admitted > 200);
  CHECK(misses > 0);
}

TEST_CASE("a run and a plan with overheads admit the same tasks") {
  const Scenario scenario = drawn_scenario("1.6");
  for (std::int64_t set = 0; set < 20; ++set) {
    RunRequest request = drawn_request(scenario, set, "mc-orb");
    request.overheads = {.costs = each_overhead(), .blocking = 70us};
    const RunOutcome outcome = run_virtually(request);
    const Plan planned = plan({.tasks = request.tasks,
                               .cores = request.cores,
                               .server = request.server,
                               .sensitivity = false,
                               .fewest = false,
                               .overheads = request.overheads});
    for (std::size_t i = 0; i < request.tasks.size(); ++i) {
      CAPTURE(set, i);
      CHECK(outcome.tasks[i].admitted == planned.tasks[i].admitted);
      CHECK(outcome.tasks[i].core == planned.tasks[i].core);
    }
  }
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
