// Quick processor-demand analysis is exact: a set that it refuses misses a deadline if all tasks start together.
#include <catch2/catch.hpp>
#include <cstdint>
#include <random>
#include <vector>

#include "orb/sched/analysis/demand.h"
#include "orb/sim/duration_distribution.h"
#include "orb/sim/job_source.h"
#include "orb/sim/multicore_simulator.h"

namespace demand_oracle_test {

using namespace corelane;
using namespace corelane::sim;
using corelane::sched::EdfTask;
using corelane::sched::Ticks;
using Kind = corelane::sched::DemandVerdict::Kind;

namespace {

// Returns how many deadlines up to `until` are missed by synchronous periodic tasks on one core.
std::uint64_t misses_until(const std::vector<EdfTask>& set, Ticks until) {
  std::vector<MulticoreTask> tasks;
  std::vector<JobPattern> patterns;
  for (const EdfTask& task : set) {
    tasks.push_back({.deadline = Duration{task.deadline}});
    patterns.push_back({.period = Duration{task.period}, .demand = DurationDistribution(Duration{task.budget})});
  }
  PatternJobs jobs(patterns);
  MulticoreSimulator simulator({.order = Order::deadline}, tasks, jobs);
  simulator.run(Time{Duration{until}});
  std::uint64_t misses = 0;
  for (std::size_t i = 0; i < tasks.size(); ++i) misses += simulator.responses(i).misses;
  return misses;
}

}  // namespace

TEST_CASE("a set that the demand analysis refuses misses a deadline, and one that it admits misses none") {
  std::mt19937_64 random(41);
  int held = 0, failed = 0;
  for (int set = 0; set < 4000; ++set) {
    std::vector<EdfTask> tasks(2 + random() % 5);
    for (EdfTask& task : tasks) {
      task.period = static_cast<Ticks>(5 + random() % 60);
      task.budget = 1 + static_cast<Ticks>(random() % 45) * task.period / 100;
      task.deadline = task.budget + static_cast<Ticks>(random() % 100) * task.period / 60;
    }
    const auto verdict = sched::demand_analysis(tasks);
    if (verdict.kind == Kind::holds) {
      REQUIRE(misses_until(tasks, 3000) == 0);
      ++held;
    } else if (verdict.kind == Kind::fails && verdict.at > 0) {
      REQUIRE(misses_until(tasks, verdict.at) > 0);
      ++failed;
    }
  }
  CHECK(held > 300);
  CHECK(failed > 100);
}

}  // namespace demand_oracle_test
