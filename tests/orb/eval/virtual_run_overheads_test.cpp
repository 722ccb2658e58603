// Runs in which releases, dispatches, hand-offs, preemptions and migrations cost time.
#include <catch2/catch.hpp>
#include <cstdint>
#include <vector>

#include "orb/base/registry.h"
#include "orb/eval/plan.h"
#include "orb/eval/virtual_run.h"
#include "orb/sched/admission_test.h"
#include "tests/orb/eval/virtual_requests.h"

namespace virtual_run_overheads_test {

using namespace corelane;
using namespace corelane::eval;
using namespace corelane::eval::testing;
using namespace std::chrono_literals;

namespace {

sim::Overheads each_overhead() {
  return {.release = 10us, .dispatch = 20us, .hop = 40us, .preemption = 80us, .migration = 160us};
}

// A task that is preempted once, and the one that preempts it.
RunRequest preempted_request(const char* dispatcher) {
  RunRequest request = request_of(tasks_of_pairs({{1ms, 4ms}, {5ms, 20ms}}), dispatcher);
  request.overheads.costs = each_overhead();
  return request;
}

}  // namespace

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

}  // namespace virtual_run_overheads_test
