// Runs in which tasks on other cores of the same cache slow a task down.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "orb/base/registry.h"
#include "orb/core/contracts/slowdowns.h"
#include "orb/eval/slowdown_table.h"
#include "orb/eval/virtual_run.h"
#include "orb/sched/admission_test.h"
#include "orb/sched/allocation_strategy.h"
#include "tests/orb/eval/virtual_requests.h"

namespace virtual_run_slowdowns_test {

using namespace corelane;
using namespace corelane::eval;
using namespace corelane::eval::testing;
using namespace std::chrono_literals;

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

TEST_CASE("budgets that include the worst slowdown on the other core hold, and tasks may share a core") {
  RunRequest request = request_of(tasks_of_pairs({{4ms, 10ms}, {4ms, 10ms}, {2ms, 20ms}}), "mc-orb", 2);
  const std::vector<PairSlowdown> pairs{{.operation = "t0", .beside = "t1", .factor = Fraction{1'500'000}},
                                        {.operation = "t1", .beside = "t0", .factor = Fraction{1'250'000}}};
  request.slowdowns = SlowdownTable(pairs, unity);
  request.server.slowdowns = core::worst_of(pairs);
  const RunOutcome charged = run_virtually(request);
  CHECK(charged.tasks[0].bound == 6ms);
  CHECK(charged.tasks[1].bound == 5ms);
  CHECK(charged.tasks[2].bound == 7ms);  // beside t1, whose core has more room
  for (const TaskOutcome& t : charged.tasks) {
    CHECK(t.admitted);
    CHECK(t.overruns == 0);
    CHECK(t.misses == 0);
  }
  REQUIRE(charged.notes.size() == 1);
  CHECK_THAT(charged.notes[0], Catch::Contains("which are estimates"));
}

TEST_CASE("a task whose budget the worst slowdown lengthens too much is refused, and does not run") {
  RunRequest request = request_of(tasks_of_pairs({{7ms, 10ms}, {4ms, 10ms}}), "mc-orb", 2);
  const std::vector<PairSlowdown> pairs{{.operation = "t0", .beside = "load", .factor = Fraction{1'500'000}}};
  request.server.slowdowns = core::worst_of(pairs);
  RunOutcome charged = run_virtually(request);
  CHECK_FALSE(charged.tasks[0].admitted);
  CHECK(charged.tasks[1].admitted);
  explain_refusals(request, charged);
  CHECK_THAT(charged.tasks[0].refusal,
             Catch::Contains("; it is analyzed with a budget of 10500us in place of 7ms: load on each other core"));
  request.dispatcher = find_named(dispatchers(), "mc-orb*");  // it refuses nothing, and so charges nothing
  const RunOutcome untested = run_virtually(request);
  CHECK(untested.tasks[0].admitted);
  CHECK(untested.notes.empty());
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

}  // namespace virtual_run_slowdowns_test
