// The budgets that the demo declares, and which of its overruns it excuses.
#include "examples/pendulum/budgets.h"

#include <catch2/catch.hpp>

#include "examples/pendulum/overruns.h"

using namespace corelane;
using namespace corelane::pendulum;
using namespace std::chrono_literals;

TEST_CASE("a budget is the longest execution and a fifth, rounded up to a tenth of a millisecond") {
  CHECK(budget_for(1500us) == 1800us);
  CHECK(budget_for(1501us) == 1900us);
  CHECK(budget_for(Duration{1}) == 100us);
}

TEST_CASE("each kind of pendulum has a sound contract, whatever was measured") {
  const Duration longest = GENERATE(as<Duration>{}, 1us, 2ms, 1s);
  const auto contracts = contracts_for({longest, longest, longest});
  REQUIRE(contracts.size() == kinds.size());
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    CHECK_FALSE(fault_of(contracts[i]));
    CHECK(contracts[i].deadline == kinds[i].deadline);
    CHECK(contracts[i].budget == std::min(budget_for(longest), kinds[i].deadline));
  }
}

TEST_CASE("an overrun is excused when the stalls inside its own job explain it, and only then") {
  OverrunLog log;
  const rt::Current job{.task = TaskId{7}, .job = JobId{5000}, .budget = 2ms};
  log.note(job, 300us);
  rt::TaskEvent overrun{.kind = dispatch::TaskEventKind::overrun, .task = TaskId{7}, .job = JobId{5000}};
  overrun.used = 2ms;  // and slept for too long
  log.heard(overrun);
  CHECK(log.excused(TaskId{7}) == 0);
  overrun.used = 2300us + Duration{1};
  log.heard(overrun);
  CHECK(log.excused(TaskId{7}) == 0);
  overrun.used = 2300us;
  log.heard(overrun);
  CHECK(log.excused(TaskId{7}) == 1);
  overrun.job = JobId{5000 + 4096};  // another job at the same place
  log.heard(overrun);
  CHECK(log.excused(TaskId{7}) == 1);
  CHECK(log.excused(TaskId{8}) == 0);
}
