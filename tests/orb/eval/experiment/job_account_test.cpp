#include "orb/eval/experiment/job_account.h"

#include <catch2/catch.hpp>

#include "orb/eval/plan.h"

namespace job_account_test {

using namespace corelane;
using namespace corelane::eval;
using namespace std::chrono_literals;

namespace {

constexpr Duration start = 100ms;

// Account is a JobAccount of one task with a period of 10 ms, over 50 ms.
struct Account {
  RunRequest request{.tasks = {{.label = "t", .contract = {.period = 10ms, .deadline = 10ms, .budget = 2ms}}},
                     .cores = numbered_cores(2),
                     .length = 50ms};
  JobAccount account{request, start, nullptr};

  // Takes so many jobs from the account.
  void release(int jobs) {
    for (int i = 0; i < jobs; ++i) account.next(0);
  }

  // Ends the job so long after its release.
  void end(std::uint64_t number, Duration response) {
    const Time release{start + 10ms * static_cast<int>(number)};
    account.finished({.task = 0,
                      .number = number,
                      .release = release,
                      .start = release,
                      .finish = release + response,
                      .deadline = release + 10ms,
                      .core = CoreId{1},
                      .demand = 2ms});
  }

  RunOutcome close() {
    RunOutcome outcome;
    outcome.tasks.resize(1);
    account.close(outcome);
    return outcome;
  }
};

}  // namespace

TEST_CASE("the account gives the jobs of a task until the end of the run") {
  Account a;
  for (int i = 0; i < 5; ++i) {
    const auto job = a.account.next(0);
    REQUIRE(job);
    CHECK(job->nominal == Time{10ms * i});
    CHECK(job->demand == 2ms);
  }
  CHECK_FALSE(a.account.next(0));
}

TEST_CASE("a job that ends at its deadline has met it") {
  Account a;
  a.release(2);
  a.end(0, 10ms);
  a.end(1, 10ms + 1ns);
  const RunOutcome outcome = a.close();
  CHECK(outcome.tasks[0].jobs == 2);
  CHECK(outcome.tasks[0].misses == 1);
  CHECK(outcome.tasks[0].worst == 10ms + 1ns);
  REQUIRE(outcome.misses.size() == 1);
  CHECK(outcome.misses[0].number == 1);
  CHECK(outcome.misses[0].release == 10ms);
  CHECK(outcome.misses[0].finish == 20ms + 1ns);
  CHECK(outcome.misses[0].core == CoreId{1});
}

TEST_CASE("jobs that are passed over were refused or cancelled, and missed their deadlines") {
  Account a;
  a.release(4);
  a.end(0, 2ms);
  a.end(3, 2ms);
  const RunOutcome outcome = a.close();
  CHECK(outcome.tasks[0].misses == 2);
  REQUIRE(outcome.misses.size() == 2);
  CHECK(outcome.misses[0].number == 1);
  CHECK(outcome.misses[1].number == 2);
  CHECK(outcome.misses[1].finish == Duration::max());
  CHECK(outcome.tasks[0].mean() == 2ms);
}

TEST_CASE("jobs that never end have missed their deadlines") {
  Account a;
  a.release(5);
  const RunOutcome outcome = a.close();
  CHECK(outcome.tasks[0].jobs == 5);
  CHECK(outcome.tasks[0].misses == 5);
  CHECK(outcome.tasks[0].finished == 0);
}

TEST_CASE("platform load behind the tasks is in no report") {
  Account a;
  a.account.add_load({.budget = 1ms, .period = 5ms});
  CHECK(a.account.next(1)->nominal == Time{});
  CHECK(a.account.next(1)->nominal == Time{5ms});
  CHECK(a.account.next(2)->demand == 1ms);
  a.account.finished({.task = 1, .number = 0});
  CHECK(a.close().tasks[0].jobs == 0);
}

}  // namespace job_account_test
