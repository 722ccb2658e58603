// What would fit, in pieces.
#include "orb/sched/explainer.h"

#include <catch2/catch.hpp>
#include <random>

#include "tests/orb/sched/manager_fixture.h"

namespace explainer_test {

using namespace corelane;
using namespace corelane::sched;
using namespace corelane::sched::testing;
using namespace std::chrono_literals;

namespace {

ManagerOptions unmoved() {
  ManagerOptions options = cores_of(2);
  options.repack = false;
  return options;
}

// Random tasks.
void fill(Bench& b, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  for (int i = 0; i < 12; ++i) {
    const Duration period = 1ms * static_cast<int>(5 + random() % 95);
    b.propose({.period = period,
               .deadline = period * static_cast<int>(50 + random() % 100) / 100,
               .budget = period * static_cast<int>(2 + random() % 20) / 100,
               .jitter = period / 20});
  }
}

const Contract wish{.period = 40ms, .deadline = 30ms, .budget = 15ms, .jitter = 1ms};

// The answer in pieces of so many evaluations, and how many pieces it took.
std::pair<Nearest, int> in_pieces(Manager& manager, const Contract& contract, int evaluations) {
  manager.begin_nearest(contract);
  for (int pieces = 1;; ++pieces)
    if (const auto found = manager.continue_nearest(evaluations)) return {*found, pieces};
}

}  // namespace

TEST_CASE("what would fit is the same in pieces of any size") {
  int found = 0;
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    Bench b(unmoved());
    fill(b, seed);
    const Nearest whole = b.manager.nearest(wish);
    found += whole.found();
    for (const int evaluations : {1, 7, 100}) {
      const auto [nearest, pieces] = in_pieces(b.manager, wish, evaluations);
      CHECK(nearest == whole);
      if (evaluations == 1) CHECK(pieces > 10);
    }
  }
  CHECK(found > 10);
}

TEST_CASE("what is found in pieces is admitted") {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    Bench b(unmoved());
    fill(b, seed);
    const Nearest nearest = in_pieces(b.manager, wish, 20).first;
    if (!nearest.found()) continue;
    Contract contract = wish;
    contract.period = nearest.period;
    contract.deadline = nearest.deadline;
    contract.budget = nearest.budget;
    b.admitted(contract);
  }
}

TEST_CASE("a question starts over when a task comes or leaves in between") {
  Bench b(cores_of(1));
  const TaskId old = b.admitted(share_of_core(60));
  const Contract asked = share_of_core(50);
  b.manager.begin_nearest(asked);
  CHECK_FALSE(b.manager.continue_nearest(3));
  b.tell(Departed{Time{}, old});
  b.vacated(old, CoreId{0});
  std::optional<Nearest> found;
  while (!found) found = b.manager.continue_nearest(3);
  CHECK(*found == Nearest{asked.period, asked.deadline, asked.budget});  // now it fits as it is
}

TEST_CASE("jobs that arrive in between disturb no question") {
  Bench b(cores_of(1));
  const TaskId task = b.admitted(share_of_core(60));
  const Nearest whole = b.manager.nearest(share_of_core(50));
  b.manager.begin_nearest(share_of_core(50));
  std::optional<Nearest> found;
  for (std::uint64_t job = 1; !found; ++job) {
    b.tell(Arrived{Time{}, JobId{1000 + job}, task, PeerId{}, std::nullopt});
    found = b.manager.continue_nearest(2);
  }
  CHECK(*found == whole);
}

TEST_CASE("a question that never gets to its end is given up") {
  Bench b(cores_of(1));
  b.admitted(share_of_core(60));
  b.manager.begin_nearest(share_of_core(50));
  std::optional<Nearest> found;
  int rounds = 0;
  for (; !found && rounds < 100; ++rounds) {
    b.manager.set_capacity(CoreId{0}, 900'000 + rounds);
    found = b.manager.continue_nearest(1);
  }
  REQUIRE(found);
  CHECK_FALSE(found->found());
  CHECK(rounds <= Explainer::max_restarts + 2);
}

TEST_CASE("of an unsound contract nothing is near") {
  Bench b(cores_of(1));
  CHECK_FALSE(b.manager.nearest({.period = 10ms, .deadline = 10ms, .budget = 11ms}).found());
  CHECK_FALSE(in_pieces(b.manager, {.period = 1ms, .deadline = 20ms, .budget = 1us}, 5).first.found());
}

}  // namespace explainer_test
