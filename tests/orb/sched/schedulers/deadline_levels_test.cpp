// Tests deadlines as levels. Whatever jobs come and go, and between any two changes, the earliest deadline has the
// highest level.
#include "orb/sched/schedulers/deadline_levels.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <random>

namespace deadline_levels_test {

using namespace corelane;
using namespace corelane::sched;
using namespace std::chrono_literals;

namespace {

constexpr int levels = 12;

// Compares the levels that a priority-driven platform knows with the order of the deadlines.
class Platform {
 public:
  void place(std::uint64_t task, std::int64_t at) {
    const JobId job{++last_job_};
    for (const auto& change : levels_.place(TaskId{task}, job, Time{Duration{at}})) {
      known_[change.task.value] = change.level.value;
      ++changes_;
      if (change.task.value != task) check(task);  // the new job does not count before its own change
    }
    places_[task] = {at, job.value};
    check(0);
  }
  void remove(std::uint64_t task) {
    levels_.remove(TaskId{task});
    places_.erase(task);
    known_.erase(task);
    check(0);
  }
  std::size_t size() const { return places_.size(); }
  int changes() const { return changes_; }

 private:
  void check(std::uint64_t except) {
    for (const auto& [a, place_a] : places_)
      for (const auto& [b, place_b] : places_)
        if (a != except && b != except && place_a < place_b) REQUIRE(known_[a] > known_[b]);
    for (const auto& [task, level] : known_) REQUIRE((level >= 1 && level <= levels));
  }

  DeadlineLevels levels_{levels, levels};
  std::uint64_t last_job_ = 0;
  int changes_ = 0;
  std::map<std::uint64_t, std::pair<std::int64_t, std::uint64_t>> places_;
  std::map<std::uint64_t, int> known_;
};

}  // namespace

TEST_CASE("the job with the earlier deadline has the higher level at every step") {
  std::mt19937_64 random(5);
  int placed = 0;
  int changes = 0;
  for (int run = 0; run < 200; ++run) {
    Platform platform;
    for (int step = 0; step < 100; ++step) {
      const std::uint64_t task = 1 + random() % levels;
      if (random() % 3 == 0)
        platform.remove(task);
      else
        platform.place(task, static_cast<std::int64_t>(random() % 20)), ++placed;
    }
    changes += platform.changes();
  }
  CHECK(changes < 4 * placed);  // most placements change no other task
}

TEST_CASE("of two jobs with equal deadlines the older has the higher level, and placing a job again changes nothing") {
  DeadlineLevels places(3, levels);
  const auto place = [&](std::uint64_t task, std::uint64_t job) {
    const auto changes = places.place(TaskId{task}, JobId{job}, Time{1s});
    return std::vector(changes.begin(), changes.end());
  };
  const auto second = place(1, 2), third = place(2, 3), first = place(3, 1);
  REQUIRE(second.size() == 1);
  REQUIRE(third.size() == 1);
  REQUIRE(first.size() == 1);
  CHECK(second[0].level > third[0].level);
  CHECK(first[0].level > second[0].level);
  places.remove(TaskId{1});
  CHECK(place(2, 3).empty());
}

TEST_CASE("jobs that come in the order of their deadlines find room until all levels are taken") {
  Platform platform;
  for (std::uint64_t task = 1; task <= levels; ++task) platform.place(task, static_cast<std::int64_t>(task));
  CHECK(platform.size() == levels);
}

TEST_CASE("a job that is given a later deadline falls behind") {
  DeadlineLevels order(4, levels);
  (void)order.place(TaskId{1}, JobId{1}, Time{Duration{10}});
  (void)order.place(TaskId{2}, JobId{2}, Time{Duration{20}});
  const auto changes = order.place(TaskId{1}, JobId{1}, Time{Duration{30}});
  REQUIRE(changes.size() == 1);
  CHECK(changes[0].task == TaskId{1});
  CHECK(changes[0].level.value < levels / 2);
}

}  // namespace deadline_levels_test
