#include "orb/sched/analysis/bounds.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

using namespace corelane::sched;

namespace {

bool sum_of_equal_tasks_passes(int n, Ticks per_ten_thousand) {
  return liu_layland(std::vector<Usage>(static_cast<std::size_t>(n), Usage{per_ten_thousand, 10'000}));
}

}  // namespace

TEST_CASE("the Liu-Layland bound lies at .8284 for two, .7798 for three and .7568 for four tasks") {
  CHECK(sum_of_equal_tasks_passes(2, 4142));
  CHECK_FALSE(sum_of_equal_tasks_passes(2, 4143));
  CHECK(sum_of_equal_tasks_passes(3, 2599));
  CHECK_FALSE(sum_of_equal_tasks_passes(3, 2600));
  CHECK(sum_of_equal_tasks_passes(4, 1892));
  CHECK_FALSE(sum_of_equal_tasks_passes(4, 1893));
}

TEST_CASE("the hyperbolic bound admits at a product of exactly two where Liu-Layland refuses") {
  const std::vector<Usage> tasks{{1, 3}, {1, 4}, {2, 10}};
  CHECK_FALSE(liu_layland(tasks));
  CHECK(hyperbolic(tasks));
}

TEST_CASE("the hyperbolic bound refuses one nanosecond past its edge") {
  CHECK(hyperbolic(std::vector<Usage>{{1'000'000'000, 3'000'000'000}, {1, 4}, {2, 10}}));
  CHECK_FALSE(hyperbolic(std::vector<Usage>{{1'000'000'001, 3'000'000'000}, {1, 4}, {2, 10}}));
}

TEST_CASE("no tasks and one full task pass the single-core bounds") {
  CHECK(liu_layland({}));
  CHECK(hyperbolic({}));
  CHECK(liu_layland(std::vector<Usage>{{5, 5}}));
  CHECK(hyperbolic(std::vector<Usage>{{5, 5}}));
  CHECK_FALSE(hyperbolic(std::vector<Usage>{{6, 5}}));
}

TEST_CASE("bounds of a thousand tasks with unrelated periods stay close and safe beyond 128 bits") {
  std::vector<Usage> tasks;
  for (Ticks i = 0; i < 1000; ++i) tasks.push_back({690'000, 1'000'000'007 + 2 * i});  // sum U just below ln 2
  CHECK(hyperbolic(tasks));
  CHECK(liu_layland(tasks));
  for (Usage& task : tasks) task.budget = 694'000;  // just above ln 2
  CHECK_FALSE(hyperbolic(tasks));
  CHECK_FALSE(liu_layland(tasks));
}

TEST_CASE("the quick comparison and the exact one agree on random sets near the bounds") {
  std::mt19937_64 random(3);
  int admitted = 0, refused = 0;
  for (int set = 0; set < 3000; ++set) {
    std::vector<Usage> tasks;
    long double product = 1, sum = 0;
    for (std::uint64_t i = 0; i < 1 + random() % 6; ++i) {
      const auto period = static_cast<Ticks>(1'000'000 + random() % 1'000'000'000);
      const Usage task{1 + static_cast<Ticks>(random() % 600) * period / 1000, period};
      const long double u = static_cast<long double>(task.budget) / static_cast<long double>(task.period);
      product *= 1 + u, sum += u;
      tasks.push_back(task);
    }
    const auto n = static_cast<long double>(tasks.size());
    REQUIRE(hyperbolic(tasks) == (product <= 2));
    REQUIRE(liu_layland(tasks) == (sum <= n * (std::pow(2.0L, 1 / n) - 1)));
    ++(hyperbolic(tasks) ? admitted : refused);
  }
  CHECK(admitted > 200);
  CHECK(refused > 200);
}

TEST_CASE("the global EDF bound is m - (m - 1) of the largest density, exactly") {
  const auto holds = [](const std::vector<SporadicTask>& tasks, int cores) {
    return goossens_funk_baruah(tasks, cores);
  };
  CHECK(holds({{1, 2, 2}, {1, 2, 2}, {1, 2, 2}}, 2));
  CHECK_FALSE(holds({{1, 2, 2}, {1, 2, 2}, {1, 2, 2}, {1, 1'000'000'000, 1'000'000'000}}, 2));
  CHECK_FALSE(holds({{3, 2, 2}}, 4));
  CHECK(holds({{1, 4, 2}, {1, 2, 2}, {1, 9, 2}}, 2));
  CHECK_FALSE(holds({{1, 4, 2}, {1, 2, 2}, {1, 9, 2}, {1, 9, 9}}, 2));
}

TEST_CASE("the aperiodic bound of equal stages lies at .5858 .3820 .2792 and .1802") {
  const auto equal = [](std::size_t stages, std::int64_t ppm) {
    return aperiodic_bound(std::vector<std::int64_t>(stages, ppm));
  };
  CHECK(equal(1, 585'786));
  CHECK_FALSE(equal(1, 585'787));
  CHECK(equal(2, 381'966));
  CHECK_FALSE(equal(2, 381'967));
  CHECK(equal(3, 279'200));
  CHECK_FALSE(equal(3, 279'300));
  CHECK(equal(5, 180'100));
  CHECK_FALSE(equal(5, 180'300));
}

TEST_CASE("the aperiodic bound admits the published points") {
  CHECK(aperiodic_bound(std::vector<std::int64_t>{400'000, 300'000}));
  CHECK(aperiodic_bound(std::vector<std::int64_t>{380'000, 380'000}));
  CHECK_FALSE(aperiodic_bound(std::vector<std::int64_t>{400'000, 400'000}));
  CHECK_FALSE(aperiodic_bound(std::vector<std::int64_t>{1'000'000}));
}

TEST_CASE("fifteen of eighteen aperiodic policies are valid") {
  int count = 0;
  for (const When admission : {When::per_task, When::per_job})
    for (const When resetting : {When::never, When::per_task, When::per_job})
      for (const When balancing : {When::never, When::per_task, When::per_job})
        count += valid({admission, resetting, balancing});
  CHECK(count == 15);
}
