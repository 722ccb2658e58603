#include "orb/sim/simulator.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <vector>

#include "orb/sim/workload.h"

namespace simulator_test {

using namespace corelane;
using namespace corelane::sim;
using namespace std::chrono_literals;

namespace {

sched::ManagerOptions cores_of(int count) {
  sched::ManagerOptions options;
  for (int i = 0; i < count; ++i)
    options.cores.push_back({.id = CoreId{static_cast<std::int16_t>(i)}, .capacity = sched::whole_core});
  return options;
}

Contract contract(Duration budget, Duration period) { return {.period = period, .deadline = period, .budget = budget}; }

}  // namespace

TEST_CASE("virtual time reproduces the published response times") {
  Simulator sim(cores_of(1));
  for (const auto& [budget, period] : {std::pair{1ms, 4ms}, {1ms, 5ms}, {3ms, 9ms}, {3ms, 18ms}})
    sim.add({.contract = contract(budget, period), .first_release = Time{1ms}});
  sim.run(Time{400ms});
  const std::vector<Duration> published{1ms, 2ms, 7ms, 18ms};
  for (std::size_t i = 0; i < published.size(); ++i) {
    CHECK(sim.report(i).worst == published[i]);
    CHECK(sim.report(i).misses == 0);
    CHECK(sim.report(i).jobs > 20);
  }
}

TEST_CASE("the worst job of a busy period is found when deadlines lie beyond the period") {
  Simulator sim(cores_of(1));
  sim.add({.contract = contract(26ms, 70ms), .first_release = Time{1ms}});
  sim.add({.contract = {.period = 100ms, .deadline = 120ms, .budget = 62ms}, .first_release = Time{1ms}});
  sim.run(Time{2s});
  CHECK(sim.report(1).worst == 118ms);
  CHECK(sim.manager().find(sim.report(1).task)->response == 118ms);
}

TEST_CASE("platform load delays every task as the analysis says") {
  auto options = cores_of(1);
  options.cores[0].load = {.budget = 1ms, .period = 10ms};
  Simulator sim(options);
  sim.add({.contract = contract(20ms, 50ms), .first_release = Time{10ms}});
  sim.run(Time{1s});
  CHECK(sim.report(0).worst == 23ms);
  CHECK(sim.manager().find(sim.report(0).task)->response == 23ms);
}

TEST_CASE("the same seed gives the same trace and another seed another") {
  const auto trace = [](std::uint64_t seed) {
    Simulator sim(cores_of(2), seed);
    for (int i = 0; i < 6; ++i)
      sim.add({.contract = {.period = 10ms, .deadline = 10ms, .budget = 2ms, .jitter = 1ms}, .jittered = true});
    sim.run(Time{500ms});
    return sim.trace_hash();
  };
  CHECK(trace(1) == trace(1));
  CHECK(trace(1) != trace(2));
}

TEST_CASE("a caller that sends twice as often as it may harms no other task") {
  Simulator sim(cores_of(1));
  sim.add({.contract = contract(4ms, 10ms), .first_release = Time{1ms}, .every = 5ms});
  sim.add({.contract = contract(10ms, 20ms), .first_release = Time{1ms}});
  sim.run(Time{1s});
  CHECK(sim.report(0).jobs <= 101);
  CHECK(sim.report(0).refused_jobs > 50);
  CHECK(sim.report(0).misses == 0);
  CHECK(sim.report(1).misses == 0);
}

TEST_CASE("a job that demands more than its budget is reported once") {
  Simulator sim(cores_of(1));
  sim.add({.contract = contract(2ms, 10ms), .first_release = Time{1ms}, .demand = 3ms});
  sim.run(Time{100ms});
  CHECK(sim.report(0).overruns == sim.report(0).jobs);
  CHECK(sim.report(0).jobs == 10);
}

TEST_CASE("without admission an overloaded core misses") {
  auto options = cores_of(1);
  options.test = &sched::admission::none;
  Simulator sim(options);
  for (int i = 0; i < 3; ++i) sim.add({.contract = contract(4ms, 10ms), .first_release = Time{1ms}});
  sim.run(Time{1s});
  CHECK(sim.report(0).misses + sim.report(1).misses + sim.report(2).misses > 0);
}

TEST_CASE("a repacking among running tasks misses no deadline") {
  auto options = cores_of(2);
  for (sched::CoreOptions& core : options.cores) core.capacity = sched::default_capacity;
  Simulator sim(options);
  const auto percent = [](int p) { return contract(p * 1ms, 100ms); };
  sim.add({.contract = percent(40), .first_release = Time{1ms}});
  sim.add({.contract = percent(40), .first_release = Time{7ms}});
  sim.add({.contract = percent(30), .first_release = Time{3ms}});
  const auto candidate = sim.add({.contract = percent(60), .proposed = Time{215ms}, .first_release = Time{215ms}});
  sim.run(Time{5s});
  REQUIRE(sim.report(candidate).admitted);
  std::uint64_t moves = 0;
  for (std::size_t i = 0; i < sim.size(); ++i) {
    CHECK(sim.report(i).misses == 0);
    CHECK(sim.report(i).jobs > 40);
    moves += sim.report(i).moves;
  }
  CHECK(moves == 2);
}

TEST_CASE("tasks that leave make room at an idle instant") {
  Simulator sim(cores_of(1));
  sim.add({.contract = contract(80ms, 100ms), .first_release = Time{0ms}, .departs = Time{250ms}});
  const auto candidate =
      sim.add({.contract = contract(50ms, 100ms), .proposed = Time{260ms}, .first_release = Time{260ms}});
  sim.run(Time{2s});
  REQUIRE(sim.report(candidate).admitted);
  CHECK(sim.report(candidate).misses == 0);
  CHECK(sim.report(candidate).jobs >= 15);
}

TEST_CASE("a new task that has to wait starts by the time that it was told") {
  std::uint64_t waited = 0;
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    Random random(seed);
    auto options = cores_of(2 + static_cast<int>(random() % 3));
    Simulator sim(options, seed);
    for (int i = 0; i < 24; ++i) {
      TaskPlan plan{.contract = contract_of(0.05 + 0.4 * uniform(random), log_uniform_period(random, 10ms, 100ms))};
      plan.proposed = plan.first_release = Time{Duration{1 + static_cast<std::int64_t>(random() % 1'000'000'000)}};
      if (i % 2 == 0) plan.departs = plan.proposed + Duration{static_cast<std::int64_t>(random() % 300'000'000)};
      sim.add(plan);
    }
    sim.run(Time{3s});
    for (std::size_t i = 0; i < sim.size(); ++i) {
      const TaskReport& report = sim.report(i);
      CHECK(report.misses == 0);
      if (!report.admitted) continue;
      REQUIRE(report.started <= report.startable_at);
      waited += report.startable_at > report.started ? 1 : 0;
    }
  }
  CHECK(waited > 20);
}

TEST_CASE("when a core is lost its tasks go on elsewhere or are told") {
  Simulator sim(cores_of(2));
  const auto a = sim.add({.contract = contract(40ms, 100ms), .first_release = Time{0ms}});
  const auto b = sim.add({.contract = contract(70ms, 100ms), .first_release = Time{0ms}});
  const auto c = sim.add({.contract = contract(20ms, 100ms), .first_release = Time{0ms}});
  sim.lose_core(CoreId{1}, Time{450ms});
  sim.run(Time{2s});
  CHECK(sim.report(a).jobs + sim.report(c).jobs >= 38);
  CHECK(sim.report(b).evicted);
  CHECK(sim.report(a).misses + sim.report(c).misses == 0);
}

TEST_CASE("generated utilizations sum to what was asked and balance as asked") {
  Random random(5);
  for (int i = 0; i < 200; ++i) {
    double sum = 0;
    for (const double u : uunifast(random, 8, 2.5)) {
      CHECK(u >= 0);
      CHECK(u <= 1);
      sum += u;
    }
    CHECK(sum == Approx(2.5));
  }
  const auto shares = balanced(random, 6, 1.4, 0.5);
  REQUIRE(shares.size() == 6);
  CHECK(*std::min_element(shares.begin(), shares.end()) / *std::max_element(shares.begin(), shares.end()) ==
        Approx(0.5));
  CHECK(balanced(random, 2, 1.9, 0.1).empty());
  for (int i = 0; i < 200; ++i) {
    const Duration period = log_uniform_period(random, 10ms, 100ms);
    CHECK(period >= 10ms);
    CHECK(period <= 100ms);
  }
}

}  // namespace simulator_test
