#include "orb/sched/priority.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <vector>

#include "orb/sched/response_time.h"

using namespace corelane;
using namespace corelane::sched;

TEST_CASE("urgency is D - J, then importance, then age") {
  CHECK(before({.urgency = 1}, {.urgency = 2}));
  CHECK(before({.urgency = 1, .importance = 2}, {.urgency = 1, .importance = 1}));
  CHECK(before({.urgency = 1, .importance = 0, .age = 1}, {.urgency = 1, .importance = 0, .age = 2}));
  CHECK_FALSE(before({.urgency = 1, .importance = 0, .age = 1}, {.urgency = 1, .importance = 0, .age = 1}));
}

TEST_CASE("D - J order schedules a pair that deadline order does not") {
  // A: C 1, T 10, D 5, J 4.  B: C 3, T 10, D 4, J 0.
  const std::vector<Interference> a{{1, 10, 4}};
  const std::vector<Interference> b{{3, 10, 0}};
  CHECK(response_time({1, 10, 4}, b).value > 5);  // deadline order: B first
  CHECK(response_time({1, 10, 4}, {}).value <= 5);
  CHECK(response_time({3, 10, 0}, a).value <= 4);
}

TEST_CASE("ranks spread over the levels, distinct as long as there are enough") {
  for (const int levels : {1, 2, 3, 48}) {
    for (int count = 1; count <= 100; ++count) {
      int last = levels + 1;
      for (int rank = 0; rank < count; ++rank) {
        const int level = level_of_rank(rank, count, levels);
        REQUIRE(level >= 1);
        REQUIRE(level <= levels);
        if (count <= levels) REQUIRE(level < last);
        REQUIRE(level <= last);
        last = level;
      }
    }
  }
}

TEST_CASE("a new task takes the middle of its gap and moves no other task") {
  std::vector<int> levels{40, 0, 20};
  CHECK_FALSE(assign_levels(levels, 48));
  CHECK(levels == std::vector<int>{40, 30, 20});
}

TEST_CASE("without a gap all are spread anew") {
  std::vector<int> levels{3, 0, 2};
  CHECK(assign_levels(levels, 3));
  CHECK(levels == std::vector<int>{3, 2, 1});
}

TEST_CASE("more tasks than levels share them in order") {
  std::vector<int> levels{2, 0, 1};
  assign_levels(levels, 2);
  CHECK(std::is_sorted(levels.rbegin(), levels.rend()));
  CHECK(levels.front() == 2);
  CHECK(levels.back() == 1);
}

TEST_CASE("random insertions keep the order of levels strict while there is room") {
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    std::vector<int> levels;
    for (int i = 0; i < 48; ++i) {
      levels.insert(levels.begin() + static_cast<std::ptrdiff_t>(random() % (levels.size() + 1)), 0);
      assign_levels(levels, 48);
      for (std::size_t k = 1; k < levels.size(); ++k) REQUIRE(levels[k] < levels[k - 1]);
      REQUIRE(levels.front() <= 48);
      REQUIRE(levels.back() >= 1);
    }
  }
}

TEST_CASE("levels are native priorities below the manager's and best effort is none") {
  STATIC_REQUIRE(NativeRange{}.task_levels() == 47);
  CHECK(native_of(best_effort) == 0);
  CHECK(native_of(Priority{1}) == 2);
  CHECK(native_of(Priority{47}) == 48);
  CHECK(native_of(Priority{48}) == 48);
  CHECK(native_of(Priority{1000}) < NativeRange{}.manager());
  CHECK(native_of(Priority{3}, {.lowest = 10, .highest = 12}) == 11);
}

TEST_CASE("a range of native priorities has room for the manager and a task") {
  CHECK(NativeRange{}.valid());
  CHECK_FALSE(NativeRange{.lowest = 2, .highest = 2}.valid());
  CHECK_FALSE(NativeRange{.lowest = 0, .highest = 10}.valid());
  CHECK_FALSE(NativeRange{.lowest = 2, .highest = 100}.valid());
}
