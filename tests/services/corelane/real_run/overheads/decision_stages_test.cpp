#include "services/corelane/real_run/overheads/decision_stages.h"

#include <catch2/catch.hpp>
#include <chrono>

using namespace corelane;
using namespace corelane::tool;
using namespace std::chrono_literals;

namespace decision_stages_test {

// The stamps of a new task that had to wait until others have moved.
DecisionStamps stamps_of_new_task() {
  return {.ran = true,
          .core = CoreId{1},
          .submitted = Time{10us},
          .begun = Time{12us},
          .decided = Time{15us},
          .admitted = Time{22us},
          .placed = Time{33us},
          .ended = Time{46us}};
}

TEST_CASE("the stages of a new task follow each other, and the total begins when the manager does") {
  DecisionStages stages;
  stages.add(stamps_of_new_task());
  CHECK(stages.queue.quantile(50) == 2us);
  CHECK(stages.decide.quantile(50) == 3us);
  CHECK(stages.move.quantile(50) == 7us);
  CHECK(stages.thread.quantile(50) == 11us);
  CHECK(stages.wake.quantile(50) == 13us);
  CHECK(stages.total.quantile(50) == 34us);
}

TEST_CASE("a refusal moves nothing and takes no thread") {
  DecisionStages stages;
  DecisionStamps stamps = stamps_of_new_task();
  stamps.ran = false;
  stages.add(stamps);
  CHECK(stages.move.empty());
  CHECK(stages.thread.empty());
  CHECK(stages.wake.quantile(50) == 31us);
  CHECK(stages.total.quantile(50) == 34us);
}

TEST_CASE("of a job for which the manager decides nothing only the total is known") {
  DecisionStages stages;
  stages.add({.submitted = Time{10us}, .begun = never, .ended = Time{14us}});
  for (const StageTimes* const stage : stages.parts()) CHECK(stage->empty());
  CHECK(stages.total.quantile(50) == 4us);
}

TEST_CASE("quantiles are samples: the shortest, the one in the middle, the longest") {
  StageTimes times;
  for (const Duration time : {Duration{40us}, Duration{10us}, Duration{30us}, Duration{20us}})
    times.add(Time{}, Time{time});
  CHECK(times.count() == 4);
  CHECK(times.quantile(0) == 10us);
  CHECK(times.quantile(25) == 10us);
  CHECK(times.quantile(26) == 20us);
  CHECK(times.quantile(50) == 20us);
  CHECK(times.quantile(99) == 40us);
  CHECK(times.quantile(100) == 40us);
  CHECK(times.mean() == 25);
}

// Edges.

TEST_CASE("one sample is every quantile") {
  StageTimes times;
  times.add(Time{1us}, Time{6us});
  CHECK(times.quantile(0) == 5us);
  CHECK(times.quantile(100) == 5us);
}

TEST_CASE("a stage that ends before it begins takes no time") {
  StageTimes times;
  times.add(Time{6us}, Time{1us});
  CHECK(times.quantile(100) == 0us);
}

}  // namespace decision_stages_test
