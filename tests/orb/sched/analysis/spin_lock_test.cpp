#include "orb/sched/analysis/spin_lock.h"

#include <catch2/catch.hpp>

namespace spin_lock_test {

using namespace corelane;
using namespace corelane::sched;

namespace {

constexpr ResourceId bus{1}, disk{2};

}  // namespace

TEST_CASE("a budget with spinning has the longest section of each other core, for each request") {
  const std::vector<SpinningTask> tasks{
      {0, 10, 100, {{bus, 2, 3}, {disk, 1}}}, {1, 10, 100, {{bus, 4}}}, {2, 10, 100, {{bus, 5}, {disk, 7}}}};
  CHECK(spinning_budget(tasks, tasks[0]) == 10 + 3 * (4 + 5) + 7);
  CHECK(spinning_budget(tasks, tasks[1]) == 10 + 2 + 5);
}

TEST_CASE("jitter delays the task itself and those below it, and other blocking is added") {
  const std::vector<SpinningTask> tasks{{.core = 0, .budget = 2, .period = 10, .requests = {}, .jitter = 5},
                                        {.core = 0, .budget = 4, .period = 40, .requests = {}, .blocking = 3}};
  const auto responses = spin_responses(tasks);
  CHECK(responses[0].value == 7);
  CHECK(responses[1].value == 11);  // 3 + 4 + 2 * 2: ceil((11 + 5) / 10) = 2
}

TEST_CASE("a resource of one core costs no spinning, and blocks once") {
  const std::vector<SpinningTask> tasks{{0, 2, 10, {{bus, 1}}}, {0, 5, 40, {{bus, 3}}}};
  const auto responses = spin_responses(tasks);
  CHECK(responses[0].value == 5);
  CHECK(responses[1].value == 7);
}

}  // namespace spin_lock_test
