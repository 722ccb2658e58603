// Tests the return of a lost core: it is empty, and new tasks go there.
#include <catch2/catch.hpp>
#include <random>
#include <vector>

#include "tests/orb/sched/manager_fixture.h"

namespace core_return_test {

using namespace corelane;
using namespace corelane::sched;
using namespace corelane::sched::testing;
using namespace std::chrono_literals;

namespace {

constexpr CoreId first{0}, second{1};

CoreLost lost(CoreId core) { return {Time{}, core}; }
CoreReturned returned(CoreId core) { return {Time{}, core}; }

}  // namespace

TEST_CASE("new tasks go to a core that returned, as the one with most room") {
  Bench b(cores_of(2));
  const TaskId stays = b.admitted(share_of_core(50));
  b.tell(lost(second));
  CHECK(b.core_of(stays) == first);
  CHECK(b.refused(share_of_core(60)).code == RefusalCode::not_schedulable);
  CHECK(b.tell(returned(second)).empty());
  CHECK_FALSE(b.manager.find(second)->lost);
  CHECK(b.core_of(b.admitted(share_of_core(60))) == second);
}

TEST_CASE("after all cores were lost each that returns takes tasks again") {
  Bench b(cores_of(2));
  b.admitted(share_of_core(50));
  b.tell(lost(first));
  b.tell(lost(second));
  CHECK(b.refused(share_of_core(10)).code == RefusalCode::no_core);
  for (const CoreId core : {second, first}) {
    b.tell(returned(core));
    CHECK(b.core_of(b.admitted(share_of_core(90))) == core);
  }
}

TEST_CASE("a core that was not lost, is none of ours, or returned already does not return") {
  Bench b(cores_of(2));
  const TaskId task = b.admitted(share_of_core(50));
  for (const CoreId core : {first, second, CoreId{7}}) CHECK(b.tell(returned(core)).empty());
  CHECK(b.core_of(task) == first);
  CHECK(b.manager.find(first)->tasks == 1);
}

TEST_CASE("ceilings from before a core was lost do not hold when it returns") {
  Contract locks = share_of_core(30);
  locks.uses[0] = use_of("bus", 1ms);
  Bench b(cores_of(2));
  const TaskId task = b.admitted(locks);
  REQUIRE(b.core_of(task) == first);
  b.tell(lost(first));
  const auto ceilings = only<Ceiling>(b.tell(returned(first)));
  REQUIRE(ceilings.size() == 1);
  CHECK(ceilings[0].core == first);
  CHECK(ceilings[0].priority == best_effort);
}

TEST_CASE("a task that was prepared before a core returned is analyzed anew") {
  Bench b(cores_of(2));
  b.admitted(share_of_core(90));
  b.tell(lost(second));
  b.manager.prepare({}, share_of_core(50));
  while (!b.manager.continue_preparing(1)) {
  }
  b.tell(returned(second));
  CHECK_FALSE(b.manager.continue_preparing(0));
  CHECK(b.core_of(b.admitted(share_of_core(50))) == second);
}

TEST_CASE("no core holds more than it may, and none is forgotten, however cores go and return") {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    std::mt19937_64 random(seed);
    Bench b(cores_of(3));
    std::vector<bool> is_lost(3);
    for (int i = 0; i < 60; ++i) {
      const auto index = static_cast<std::size_t>(random() % 3);
      const CoreId core{static_cast<std::int16_t>(index)};
      switch (random() % 4) {
        case 0:
          b.tell(lost(core));
          is_lost[index] = true;
          break;
        case 1:
          b.tell(returned(core));
          is_lost[index] = false;
          break;
        case 2:
          b.propose(share_of_core(1 + static_cast<int>(random() % 60)));
          break;
        default:
          const auto tasks = b.manager.tasks();
          if (tasks.empty()) break;
          const TaskView gone = tasks[random() % tasks.size()];
          b.tell(Departed{Time{}, gone.id});
          b.vacated(gone.id, gone.core);
      }
      for (const CoreView& view : b.manager.cores()) {
        CHECK(view.lost == is_lost[static_cast<std::size_t>(view.id.value)]);
        CHECK(view.admitted <= view.capacity);
        if (view.lost) CHECK(view.tasks == 0);
      }
      for (const TaskView& task : b.manager.tasks())
        if (task.core != no_core) CHECK_FALSE(b.manager.find(task.core)->lost);
    }
    for (std::int16_t core = 0; core < 3; ++core) b.tell(returned(CoreId{core}));
    for (const TaskView& task : b.manager.tasks()) {
      b.tell(Departed{Time{}, task.id});
      b.vacated(task.id, task.core);
      if (task.target != no_core) b.vacated(task.id, task.target);
    }
    if (!b.manager.tasks().empty()) continue;  // a task that waited for these is admitted now
    for (int core = 0; core < 3; ++core) b.admitted(share_of_core(95));
  }
}

}  // namespace core_return_test
