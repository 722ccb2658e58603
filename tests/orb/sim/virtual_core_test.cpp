// Tests how long jobs execute under slowdowns that change while other jobs preempt them.
#include "orb/sim/virtual_core.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <map>
#include <random>
#include <vector>

namespace virtual_core_test {

using namespace corelane;
using namespace corelane::sim;

namespace {

// Returns demand x slowdown, rounded up.
Duration slowed_down(Duration demand, std::int64_t slowdown) {
  return Duration{(demand.count() * slowdown + no_slowdown - 1) / no_slowdown};
}

// Random jobs on a core. At random times the core gets another slowdown, or a job another priority.
class RandomRun {
 public:
  explicit RandomRun(std::uint32_t seed) : random_(seed) {
    for (std::uint64_t i = 1; i <= 4; ++i) {
      demands_[i] = Duration{draw(1, 60)};
      core_.start(now_, {JobId{i}, TaskId{i}, Priority{draw<std::int32_t>(1, 3)}, demands_[i]});
    }
  }

  // Executes all jobs. The slowdown is one of these. Returns how long each job has executed.
  std::map<std::uint64_t, Duration> execute(const std::vector<std::int64_t>& slowdowns) {
    std::map<std::uint64_t, Duration> used;
    core_.set_slowdown(now_, slowdowns[0]);
    while (used.size() < demands_.size()) {
      while (const auto reached = core_.reach(now_)) used[reached->job.job.value] = reached->job.used;
      if (draw(0, 1) == 0) core_.set_slowdown(now_, slowdowns[draw(std::size_t{0}, slowdowns.size() - 1)]);
      if (draw(0, 2) == 0)
        core_.set_priority(now_, TaskId{draw<std::uint64_t>(1, 4)}, Priority{draw<std::int32_t>(1, 3)});
      now_ = std::min(core_.dispatch(now_).reach, now_ + Duration{draw(1, 9)});
    }
    return used;
  }

  const std::map<std::uint64_t, Duration>& demands() const { return demands_; }

 private:
  template <typename Value = std::int64_t>
  Value draw(Value least, Value most) {
    return std::uniform_int_distribution<Value>(least, most)(random_);
  }

  std::mt19937 random_;
  Time now_{};
  VirtualCore core_;
  std::map<std::uint64_t, Duration> demands_;  // by job
};

constexpr std::uint32_t runs = 300;

}  // namespace

TEST_CASE("preemptions lose no work of a slowed job") {
  for (std::uint32_t seed = 0; seed < runs; ++seed) {
    RandomRun run(seed);
    for (const auto& [job, used] : run.execute({1'333'333})) {
      CAPTURE(seed, job);
      CHECK(used == slowed_down(run.demands().at(job), 1'333'333));
    }
  }
}

TEST_CASE("a job executes for at most its demand times the largest slowdown, however often the slowdown changes") {
  const std::vector<std::int64_t> slowdowns = GENERATE(std::vector<std::int64_t>{1'700'000, 1'699'999, 1'699'993},
                                                       std::vector<std::int64_t>{1'300'001, 1'300'000, no_slowdown});
  const auto [least, most] = std::ranges::minmax(slowdowns);
  for (std::uint32_t seed = 0; seed < runs; ++seed) {
    RandomRun run(seed);
    for (const auto& [job, used] : run.execute(slowdowns)) {
      CAPTURE(seed, job);
      CHECK(used <= slowed_down(run.demands().at(job), most));
      CHECK(used >= slowed_down(run.demands().at(job), least) - Duration{1});
    }
  }
}

}  // namespace virtual_core_test
