#include "orb/sched/admission/trial_series.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <limits>

#include "tests/orb/sched/manager_fixture.h"

using namespace corelane;
using namespace corelane::sched;
using namespace corelane::sched::testing;

namespace trial_series_test {
namespace {

// Makes a whole trial: the task with this share of core 0 beside the others. Returns whether all deadlines hold.
bool fits(TrialSeries& trials, const Placement& placement, const CoreTaskSet& others, std::uint32_t slot, int percent) {
  trials.start(others, placement.core(0), slot, demand_of(share_of_core(percent), slot, false));
  CHECK(trials.is_trying());
  int evaluations = std::numeric_limits<int>::max();
  REQUIRE(trials.step(evaluations));
  CHECK(evaluations < std::numeric_limits<int>::max());
  CHECK_FALSE(trials.is_trying());
  return trials.verdict().fits;
}

}  // namespace

TEST_CASE("each trial of a series has a result of its own") {
  const Placement placement(cores_of(1));
  TrialSeries trials(placement);
  trials.begin(1'000);
  REQUIRE(fits(trials, placement, placement.core(0).task_set, 0, 60));
  CoreTaskSet one;
  one.reserve(placement.members());
  one.copy_from(trials.task_set());
  CHECK_FALSE(fits(trials, placement, one, 1, 60));
  CHECK(fits(trials, placement, one, 1, 30));
  CHECK(trials.task_set().members().size() == 2);
}

TEST_CASE("without a budget, bounds decide a trial") {
  const Placement placement(cores_of(1));
  TrialSeries trials(placement);
  trials.begin(0);
  CHECK(fits(trials, placement, placement.core(0).task_set, 0, 60));
}

TEST_CASE("a new series ends a trial that has not ended") {
  const Placement placement(cores_of(1));
  TrialSeries trials(placement);
  trials.begin(1'000);
  trials.start(placement.core(0).task_set, placement.core(0), 0, demand_of(share_of_core(60), 0, false));
  REQUIRE(trials.is_trying());
  trials.begin(1'000);
  CHECK_FALSE(trials.is_trying());
}

}  // namespace trial_series_test
