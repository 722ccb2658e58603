#include "orb/sched/analysis/split_placement.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <random>
#include <vector>

namespace split_placement_test {

using namespace corelane::sched;

namespace {

constexpr SporadicTask implicit(Ticks budget, Ticks period) {
  return {.budget = budget, .period = period, .deadline = period};
}

bool all_hold(const SplitPlacement& placement, std::size_t cores) {
  for (std::size_t core = 0; core < cores; ++core)
    if (demand_analysis(placement.tasks_on(core)).kind != DemandVerdict::Kind::holds) return false;
  return true;
}

}  // namespace

TEST_CASE("three tasks of two thirds are placed on two cores, the third one in two parts") {
  SplitPlacement placement(2);
  for (int i = 0; i < 3; ++i) REQUIRE(placement.place(implicit(66, 100)));
  CHECK(placement.parts(0).size() == 1);
  CHECK(placement.parts(1)[0].core == 1);
  const auto parts = placement.parts(2);
  REQUIRE(parts.size() == 2);
  CHECK(parts[0].core == 0);
  CHECK(parts[0].part.budget == 34);
  CHECK(parts[1].core == 1);
  CHECK(parts[1].offset == 34);
  CHECK(parts[1].part.budget == 32);
  CHECK_FALSE(placement.place(implicit(3, 100)));
}

TEST_CASE("a task that fits on a later core is not cut") {
  SplitPlacement placement(2);
  REQUIRE(placement.place(implicit(60, 100)));
  REQUIRE(placement.place(implicit(50, 100)));
  CHECK(placement.parts(1).size() == 1);
  CHECK(placement.parts(1)[0].core == 1);
}

TEST_CASE("the bound of a whole task is the published response under earliest deadline first") {
  SplitPlacement placement(1);
  REQUIRE(placement.place(implicit(3, 12)));
  REQUIRE(placement.place(implicit(2, 4)));
  CHECK(placement.response(0) == 7);
  CHECK(placement.response(1) == 2);
}

TEST_CASE("the bound of a cut task is that of its last part behind the first") {
  SplitPlacement placement(2);
  for (int i = 0; i < 3; ++i) REQUIRE(placement.place(implicit(66, 100)));
  // On core 1 the last part has a deadline of 66. It is latest if the other task came 34 before it: 66 + 32 - 34 = 64.
  CHECK(placement.response(2) == 34 + 64);
}

TEST_CASE("a task that fits nowhere changes nothing") {
  SplitPlacement placement(1);
  REQUIRE(placement.place(implicit(60, 100)));
  CHECK_FALSE(placement.place(implicit(41, 100)));
  CHECK(placement.tasks_on(0).size() == 1);
  REQUIRE(placement.place(implicit(40, 100)));
}

TEST_CASE("a placement can be cleared") {
  SplitPlacement placement(1);
  REQUIRE(placement.place(implicit(100, 100)));
  placement.clear();
  CHECK(placement.tasks_on(0).empty());
  CHECK(placement.place(implicit(100, 100)));
}

TEST_CASE("the demand of each core holds, and more tasks are placed than without cuts") {
  constexpr std::size_t cores = 3;
  std::size_t whole = 0, placed = 0, cut = 0, wrong = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    std::mt19937_64 random(seed);
    SplitPlacement placement(cores);
    std::vector<SplitPlacement> singles(cores, SplitPlacement(1));  // first fit without cuts
    std::size_t number = 0;
    for (int i = 0; i < 8; ++i) {
      const auto period = static_cast<Ticks>(10 + random() % 90);
      const SporadicTask task = implicit(1 + period * static_cast<Ticks>(20 + random() % 45) / 100, period);
      const auto fits = [&](SplitPlacement& single) { return single.place(task); };
      whole += std::ranges::any_of(singles, fits) ? 1 : 0;
      if (placement.place(task)) cut += placement.parts(number++).size() > 1 ? 1 : 0;
    }
    placed += number;
    wrong += all_hold(placement, cores) ? 0 : 1;
  }
  CHECK(wrong == 0);
  CHECK(cut > 100);
  CHECK(placed > whole);
}

}  // namespace split_placement_test
