// Tests releases by firm timers on virtual cores: fewer interrupts, and no release later than the overshoot.
#include <algorithm>
#include <catch2/catch.hpp>
#include <vector>

#include "orb/sched/response_time.h"
#include "orb/sim/simulator.h"

namespace firm_timers_test {

using namespace corelane;
using namespace corelane::sched;
using namespace corelane::sim;
using namespace std::chrono_literals;

namespace {

// Returns a simulator with one core, which accepts every task.
Simulator with_overshoot(Duration overshoot, std::uint64_t seed = 1) {
  ManagerOptions options;
  options.cores.push_back({.id = CoreId{0}, .capacity = whole_core});
  options.test = &sched::admission::none;
  Simulator sim(options, seed);
  sim.use_firm_timers(overshoot);
  return sim;
}

// Plans a task whose caller sends too often, so that a timer releases its jobs.
TaskPlan hasty(const Contract& contract) { return {.contract = contract, .every = contract.period * 9 / 10}; }

Contract contract(Duration budget, Duration period) { return {.period = period, .deadline = period, .budget = budget}; }

}  // namespace

TEST_CASE("a lonely task's releases are late by exactly the overshoot of its firm timer") {
  for (const Duration overshoot : {0us, 300us}) {
    Simulator sim = with_overshoot(overshoot);
    sim.add(hasty(contract(1ms, 10ms)));
    sim.run(Time{1s});
    CHECK(sim.report(0).worst == 1ms + overshoot);
    CHECK(sim.timer_interrupts() > 85);
  }
}

TEST_CASE("where much goes on soft checks release most jobs before the hard timer would") {
  const auto interrupts = [](Duration overshoot) {
    Simulator sim = with_overshoot(overshoot);
    for (const Duration period : {5ms, 7ms, 11ms, 13ms, 17ms}) sim.add(hasty(contract(800us, period)));
    sim.run(Time{10s});
    for (std::size_t i = 0; i < sim.size(); ++i) CHECK(sim.report(i).misses == 0);
    return sim.timer_interrupts();
  };
  const auto hard = interrupts(0us);
  const auto firm = interrupts(1ms);
  CHECK(hard > 4000);
  CHECK(firm < hard / 2);
}

TEST_CASE("the overshoot of firm timers counts as release jitter, and then the analysis holds") {
  Random random(21);
  int beyond = 0;  // responses beyond the analysis without the overshoot
  for (std::uint64_t set = 0; set < 200; ++set) {
    const Duration overshoot = 100us + Duration{static_cast<std::int64_t>(random() % 1'000'000)};
    Simulator sim = with_overshoot(overshoot, set);
    std::vector<Contract> contracts;
    for (const double u : uunifast(random, 3, 0.8)) {
      contracts.push_back(contract_of(std::max(u, 0.02), log_uniform_period(random, 5ms, 50ms)));
      contracts.back().deadline = 4 * contracts.back().period;
    }
    std::sort(contracts.begin(), contracts.end(), [](const auto& a, const auto& b) { return a.period < b.period; });
    for (const Contract& c : contracts) sim.add(hasty(c));
    sim.run(Time{2s});
    std::vector<Interference> late;
    std::vector<Interference> punctual;
    for (std::size_t i = 0; i < contracts.size(); ++i) {
      const Ticks c = contracts[i].budget.count();
      const Ticks t = contracts[i].period.count();
      const Response analysed = response_time({c, t, overshoot.count()}, late);
      REQUIRE(analysed.verdict == Response::Verdict::exact);
      REQUIRE(sim.report(i).worst <= Duration{analysed.value});
      // In the analysis, a delay that all releases share is the same as blocking, which a PlatformLoad has.
      REQUIRE(response_time({c, t, 0, overshoot.count()}, punctual).value == analysed.value);
      beyond += sim.report(i).worst > Duration{response_time({c, t}, punctual).value};
      late.push_back({c, t, overshoot.count()});
      punctual.push_back({c, t, 0});
    }
  }
  CHECK(beyond > 20);
}

}  // namespace firm_timers_test
