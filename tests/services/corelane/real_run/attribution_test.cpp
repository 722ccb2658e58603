#include "services/corelane/real_run/attribution.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <vector>

using namespace corelane;
using namespace corelane::tool;
using namespace std::chrono_literals;
using eval::MissCause;

namespace attribution_test {

using Causes = std::vector<MissCause>;

// A job with a deadline of 10 ms and a budget of 6 ms, which ends 1 ms too late.
ObservedJob late_job(Duration execution, Duration longest_gap = 0ns) {
  return {.task = 0,
          .release = 0ms,
          .begin = 0ms,
          .end = 11ms,
          .deadline = 10ms,
          .execution = execution,
          .budget = 6ms,
          .longest_gap = longest_gap,
          .priority = Priority{1},
          .core = CoreId{0}};
}

// A more urgent job on the same core, released one after the other.
ObservedJob urgent_job(Duration execution, Duration budget) {
  return {.task = 1,
          .release = 1ms,
          .begin = 1ms,
          .end = 1ms + execution,
          .deadline = 50ms,
          .execution = execution,
          .budget = budget,
          .priority = Priority{2},
          .core = CoreId{0}};
}

Causes causes(const std::vector<ObservedJob>& jobs) { return causes_of(jobs, ReplayCores::own); }

TEST_CASE("a gap of the machine inside a job excuses it if the job meets its deadline without the gap") {
  CHECK(causes({late_job(6ms, 5ms)}) == Causes{MissCause::host});
}

TEST_CASE("a gap excuses no job that is late without it, too") {
  CHECK(causes({late_job(6ms, 5ms), urgent_job(5ms, 5ms)}) == Causes{MissCause::scheduling, MissCause::unknown});
}

TEST_CASE("a job that exceeds its budget is late because of that if it meets its deadline within the budget") {
  CHECK(causes({late_job(11ms)}) == Causes{MissCause::overrun});
}

TEST_CASE("another job that exceeds its budget explains a late job, too") {
  CHECK(causes({late_job(6ms), urgent_job(5ms, 1ms)}) == Causes{MissCause::overrun, MissCause::unknown});
}

TEST_CASE("jobs within their budgets that need too much together are a matter of scheduling") {
  CHECK(causes({late_job(6ms), urgent_job(5ms, 5ms)}) == Causes{MissCause::scheduling, MissCause::unknown});
}

TEST_CASE("a late job that neither a gap nor other jobs explain has an unknown cause") {
  CHECK(causes({late_job(6ms)}) == Causes{MissCause::unknown});
}

// Edges.

TEST_CASE("a gap excuses a lateness that is as long as itself, and no longer one") {
  CHECK(causes({late_job(6ms, 1ms)}) == Causes{MissCause::host});
  CHECK(causes({late_job(6ms, 1ms - 1ns)}) == Causes{MissCause::unknown});
}

TEST_CASE("a job that would end at its deadline without the gap meets it") {
  CHECK(causes({late_job(10ms, 1ms)}) == Causes{MissCause::host});
  CHECK(causes({late_job(10ms + 1ns, 1ms)}) == Causes{MissCause::overrun});
}

TEST_CASE("a job that is in time has no cause") {
  ObservedJob job = late_job(6ms, 5ms);
  job.end = job.deadline;
  CHECK(causes({job}) == Causes{MissCause::unknown});
}

}  // namespace attribution_test
