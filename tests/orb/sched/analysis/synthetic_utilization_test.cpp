#include "orb/sched/analysis/synthetic_utilization.h"

#include <catch2/catch.hpp>
#include <random>
#include <vector>

#include "tests/orb/sched/whole_units.h"

namespace synthetic_utilization_test {

using namespace corelane;
using namespace corelane::sched;
using namespace corelane::sched::testing;

namespace {

constexpr When axis[] = {When::never, When::per_task, When::per_job};

SoundAperiodicPolicy policy(When admission, When resetting = When::never, When balancing = When::never) {
  const auto sound = SoundAperiodicPolicy::of({admission, resetting, balancing});
  REQUIRE(sound);
  return *sound;
}

constexpr std::size_t both[] = {0, 1};
constexpr std::size_t second_first[] = {1, 0};
constexpr std::size_t all_of_them[] = {0, 1, 2};

class Bench {
 public:
  explicit Bench(SoundAperiodicPolicy p, std::size_t capacity = 64) : ledger(3, p, capacity) {}

  // Adds a job with deadline 1000 and one stage of `budget` on processor 0.
  bool job(std::int64_t now, std::uint64_t id, std::int64_t budget, std::uint64_t task = 0) {
    return stages(now, id, {budget}, task);
  }
  // Adds a job whose stage i is on processor i.
  bool stages(std::int64_t now, std::uint64_t id, const std::vector<std::int64_t>& budgets, std::uint64_t task = 0) {
    std::vector<Stage> list;
    for (std::size_t i = 0; i < budgets.size(); ++i)
      list.push_back({Duration{budgets[i]}, std::span(all_of_them).subspan(i, 1)});
    return ledger.arrive(at(now), JobId{id}, TaskId{task}, Duration{1000}, list).has_value();
  }
  std::vector<std::size_t> balanced(std::int64_t now, std::uint64_t id, std::int64_t budget, std::uint64_t task,
                                    std::span<const std::size_t> processors = both) {
    const Stage stage{Duration{budget}, processors};
    const auto where = ledger.arrive(at(now), JobId{id}, TaskId{task}, Duration{1000}, std::span(&stage, 1));
    return where ? std::vector<std::size_t>(where->begin(), where->end()) : std::vector<std::size_t>{};
  }
  SyntheticUtilization ledger;
};

using Where = std::vector<std::size_t>;

}  // namespace

TEST_CASE("fifteen of eighteen aperiodic policies exist and the others say what to choose") {
  int sound = 0;
  for (const When admission : {When::per_task, When::per_job})
    for (const When resetting : axis)
      for (const When balancing : axis) {
        const AperiodicPolicy axes{admission, resetting, balancing};
        CHECK(SoundAperiodicPolicy::of(axes).has_value() == !fault_of(axes).has_value());
        sound += SoundAperiodicPolicy::of(axes).has_value();
      }
  CHECK(sound == 15);
  CHECK(fault_of({When::per_task, When::per_job, When::never})->find("choose admission per job") != std::string::npos);
  CHECK(fault_of({When::never, When::never, When::never})->find("per task") != std::string::npos);
}

TEST_CASE("one processor takes aperiodic jobs up to a synthetic utilization of .5858") {
  Bench b(policy(When::per_job));
  CHECK(b.job(0, 1, 585));
  CHECK_FALSE(b.job(0, 2, 1));
  CHECK(b.ledger.utilization(0) == 585'000);
}

TEST_CASE("jobs that pass two processors are admitted at (.4, .3) and (.38, .38) and not at (.4, .4)") {
  for (const auto& [first, second, admitted] :
       {std::tuple{400, 300, true}, std::tuple{380, 380, true}, std::tuple{400, 400, false}}) {
    Bench b(policy(When::per_job));
    CHECK(b.stages(0, 1, {first, second}) == admitted);
    CHECK(b.ledger.current() == (admitted ? 1 : 0));
  }
}

TEST_CASE("a new task is refused if it would make a current job late") {
  Bench b(policy(When::per_job));
  REQUIRE(b.stages(0, 1, {300, 300}));
  CHECK_FALSE(b.job(0, 2, 200));  // it would be in time itself, but job 1 would be late
  CHECK(b.job(0, 3, 100));
}

TEST_CASE("a job counts until its deadline") {
  Bench b(policy(When::per_job));
  REQUIRE(b.job(0, 1, 500));
  CHECK_FALSE(b.job(999, 2, 500));
  CHECK(b.job(1000, 3, 500));
}

TEST_CASE("when a processor idles completed jobs count no more if the policy says so") {
  for (const When resetting : axis) {
    Bench b(policy(When::per_job, resetting));
    REQUIRE(b.job(0, 1, 300));
    REQUIRE(b.job(0, 2, 250, 7));  // a job of a periodic task
    b.ledger.completed(JobId{1});
    b.ledger.completed(JobId{2});
    b.ledger.idle(1);
    CHECK(b.ledger.utilization(0) == 550'000);
    b.ledger.idle(0);
    CHECK(b.ledger.utilization(0) == (resetting == When::never ? 550'000 : resetting == When::per_task ? 250'000 : 0));
    b.ledger.expire(at(1000));
    CHECK(b.ledger.utilization(0) == 0);
  }
}

TEST_CASE("a job that is not completed keeps its share when its processor idles") {
  Bench b(policy(When::per_job, When::per_job));
  REQUIRE(b.stages(0, 1, {200, 200}));
  b.ledger.completed(JobId{1});
  b.ledger.idle(0);
  b.ledger.idle(1);
  CHECK(b.ledger.utilization(0) == 0);
  CHECK(b.ledger.utilization(1) == 200'000);
}

TEST_CASE("admission per task reserves for good and asks once") {
  Bench b(policy(When::per_task, When::per_task));
  REQUIRE(b.job(0, 1, 400, 7));
  b.ledger.completed(JobId{1});
  b.ledger.idle(0);
  b.ledger.expire(at(5000));
  CHECK(b.ledger.utilization(0) == 400'000);
  REQUIRE(b.job(5000, 2, 180));
  CHECK(b.job(5000, 3, 400, 7));
  b.ledger.departed(TaskId{7});
  CHECK(b.ledger.utilization(0) == 580'000);
  b.ledger.expire(at(6000));
  CHECK(b.ledger.utilization(0) == 0);
}

TEST_CASE("load balancing chooses for a task once or for each job") {
  SECTION("never") {
    Bench b(policy(When::per_job));
    CHECK(b.balanced(0, 1, 300, 7) == Where{0});
    CHECK(b.balanced(0, 2, 100, 8) == Where{0});
    CHECK(b.balanced(0, 3, 100, 9, second_first) == Where{1});
  }
  SECTION("per task") {
    Bench b(policy(When::per_job, When::never, When::per_task));
    CHECK(b.balanced(0, 1, 300, 7) == Where{0});
    CHECK(b.balanced(0, 2, 100, 8) == Where{1});
    CHECK(b.balanced(500, 3, 100, 7) == Where{0});
    CHECK(b.balanced(500, 4, 100, 0) == Where{1});
  }
  SECTION("per job") {
    Bench b(policy(When::per_job, When::never, When::per_job));
    CHECK(b.balanced(0, 1, 300, 7) == Where{0});
    CHECK(b.balanced(500, 2, 100, 7) == Where{1});
  }
  SECTION("per job, of a task that has reserved") {
    Bench b(policy(When::per_task, When::never, When::per_job));
    CHECK(b.balanced(0, 1, 300, 7) == Where{0});
    CHECK(b.balanced(0, 2, 200, 8) == Where{1});
    CHECK(b.balanced(0, 3, 100, 0) == Where{1});
    CHECK(b.balanced(500, 4, 250, 0) == Where{0});  // .55 here, .3 there
    CHECK(b.balanced(500, 5, 300, 7) == Where{0});  // without itself, .25 here and .3 there
    CHECK(b.ledger.utilization(0) == 550'000);
  }
}

TEST_CASE("a stage that is over counts with the utilization that it met, also after a reset") {
  Bench b(policy(When::per_job, When::per_job));
  constexpr std::size_t first[] = {0};
  constexpr std::size_t second[] = {1};
  const auto arrive = [&](std::int64_t now, std::uint64_t id, std::int64_t deadline, const std::vector<Stage>& stages) {
    return b.ledger.arrive(at(now), JobId{id}, no_task, Duration{deadline}, stages).has_value();
  };
  REQUIRE(arrive(0, 1, 99, {{Duration{49}, first}}));
  REQUIRE(arrive(0, 2, 100, {{Duration{1}, first}, {Duration{1}, second}}));
  b.ledger.completed(JobId{1});
  b.ledger.completed(JobId{2});
  b.ledger.idle(0);
  CHECK(b.ledger.utilization(0) == 0);
  CHECK_FALSE(arrive(50, 3, 99, {{Duration{56}, second}}));  // job 2 would end at 107
  CHECK(arrive(50, 4, 99, {{Duration{15}, second}}));
}

// Laws.

TEST_CASE(
    "no job that the aperiodic bound admits misses on a chain of processors under deadline-monotonic priorities") {
  struct Live {
    std::uint64_t id;
    std::int64_t deadline, ends_by, left;
    std::vector<std::int64_t> budgets;
    std::size_t stage;
  };
  std::mt19937_64 random(1);
  int admitted = 0;
  for (std::size_t set = 0; set < 60; ++set) {
    const std::size_t stages = 1 + set % 3;
    Bench b(policy(When::per_job, axis[set / 3 % 3]), 256);
    std::vector<Live> live;
    bool late = false;
    for (std::int64_t t = 0; t < 1500; ++t) {
      if (random() % 3 == 0) {
        const auto deadline = 10 + static_cast<std::int64_t>(random() % (random() % 2 == 0 ? 30 : 200));
        Live job{static_cast<std::uint64_t>(t) + 1, deadline, t + deadline, 0, {}, 0};
        std::vector<Stage> list;
        for (std::size_t s = 0; s < stages; ++s) {
          const auto most = static_cast<std::uint64_t>(deadline) / (2 * stages);
          job.budgets.push_back(1 + static_cast<std::int64_t>(random() % most));
          list.push_back({Duration{job.budgets.back()}, std::span(all_of_them).subspan(s, 1)});
        }
        job.left = job.budgets[0];
        if (b.ledger.arrive(at(t), JobId{job.id}, no_task, Duration{deadline}, list)) {
          live.push_back(job);
          ++admitted;
        }
      }
      for (std::size_t p = 0; p < stages; ++p) {
        Live* first = nullptr;
        for (Live& job : live)
          if (job.stage == p && (first == nullptr || job.deadline < first->deadline)) first = &job;
        if (first != nullptr)
          --first->left;
        else
          b.ledger.idle(p);
      }
      for (Live& job : live) {
        if (job.left > 0) continue;
        b.ledger.completed(JobId{job.id});
        if (++job.stage < stages)
          job.left = job.budgets[job.stage];
        else
          late |= t + 1 > job.ends_by;
      }
      std::erase_if(live, [&](const Live& job) { return job.stage == stages; });
    }
    REQUIRE_FALSE(late);
  }
  CHECK(admitted > 3000);
}

TEST_CASE("synthetic utilization is the sum of its current jobs and returns to zero") {
  std::mt19937_64 random(5);
  for (const When resetting : axis) {
    Bench b(policy(When::per_job, resetting, When::per_job), 16);
    std::int64_t now = 0;
    int admitted = 0;
    for (std::uint64_t id = 1; id < 3000; ++id) {
      now += static_cast<std::int64_t>(random() % 200);
      const auto budget = 1 + static_cast<std::int64_t>(random() % 150);
      admitted += !b.balanced(now, id, budget, random() % 3, all_of_them).empty();
      b.ledger.completed(JobId{id - random() % 4});
      if (random() % 4 == 0) b.ledger.idle(random() % 3);
      for (std::size_t p = 0; p < 3; ++p) {
        REQUIRE(b.ledger.utilization(p) >= 0);
        REQUIRE(b.ledger.utilization(p) <= 585'787);
      }
    }
    CHECK(admitted > 1000);
    b.ledger.expire(at(now + 1000));
    CHECK(b.ledger.current() == 0);
    for (std::size_t p = 0; p < 3; ++p) CHECK(b.ledger.utilization(p) == 0);
  }
}

// Error paths.

TEST_CASE("an aperiodic job without stages, with an unknown processor, or beyond the capacity is not admitted") {
  Bench b(policy(When::per_job), 1);
  CHECK_FALSE(b.stages(0, 1, {}));
  CHECK_FALSE(b.stages(0, 1, std::vector<std::int64_t>(1, 0)));
  static constexpr std::size_t unknown[] = {3};
  CHECK(b.balanced(0, 1, 1, 0, unknown).empty());
  CHECK(b.job(0, 1, 1));
  CHECK_FALSE(b.job(0, 2, 1));
  CHECK(b.ledger.current() == 1);
}

}  // namespace synthetic_utilization_test
