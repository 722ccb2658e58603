// Tests cores scheduled by deadlines whose tasks have servers of their own, as under SCHED_DEADLINE. Admitted tasks
// never miss, and no task can harm another.
#include <algorithm>
#include <catch2/catch.hpp>
#include <vector>

#include "orb/sched/servers/task_server.h"
#include "orb/sim/simulator.h"

namespace served_test {

using namespace corelane;
using namespace corelane::sched;
using namespace corelane::sim;
using namespace std::chrono_literals;

namespace {

ManagerOptions one_served_core(const PlatformLoad& load = {}) {
  ManagerOptions options;
  options.cores.push_back({.id = CoreId{0}, .capacity = whole_core, .load = load, .order = CoreOrder::served});
  options.max_tasks = 32;
  return options;
}

std::vector<Contract> some_contracts(Random& random, bool jittered) {
  static constexpr Duration periods[] = {4ms, 5ms, 6ms, 8ms, 10ms, 12ms, 15ms, 20ms, 24ms, 30ms};
  std::vector<Contract> contracts;
  const auto count = 2 + random() % 3;
  for (std::uint64_t i = 0; i < count; ++i) {
    const Duration period = periods[random() % 10];
    const Duration budget = period * static_cast<int>(10 + random() % 30) / 100;
    const Duration deadline = std::max(2 * budget, period * static_cast<int>(40 + random() % 120) / 100);
    const Duration jitter = jittered ? (deadline - budget) * static_cast<int>(random() % 40) / 100 : 0ms;
    contracts.push_back({.period = period, .deadline = deadline, .budget = budget, .jitter = jitter});
  }
  return contracts;
}

double share_of(const Contract& contract) {
  const Reservation server = task_server_of(contract);
  return static_cast<double>(server.budget.count()) / static_cast<double>(server.period.count());
}

}  // namespace

TEST_CASE("served tasks are admitted while their servers' shares fit, never miss, and respond within their bounds") {
  Random random(31);
  std::uint64_t jobs = 0;
  int admitted = 0, refused = 0;
  for (std::uint64_t set = 0; set < 300; ++set) {
    Simulator sim(one_served_core(), set);
    double sum = 0;
    for (const Contract& contract : some_contracts(random, set % 2 == 0)) {
      const auto plan =
          sim.add({.contract = contract, .first_release = Time{random() % 20 * 1ms}, .jittered = set % 2 == 0});
      sim.run(Time{});
      const double with = sum + share_of(contract);
      REQUIRE(sim.report(plan).admitted == (with <= 1.0));  // no sum is exactly 1
      if (sim.report(plan).admitted) sum = with;
      ++(sim.report(plan).admitted ? admitted : refused);
    }
    sim.run(Time{600ms});
    for (std::size_t i = 0; i < sim.size(); ++i) {
      if (!sim.report(i).admitted) continue;
      REQUIRE(sim.report(i).misses == 0);
      REQUIRE(sim.report(i).worst <= sim.report(i).bound);
      jobs += sim.report(i).jobs;
    }
  }
  CHECK(admitted > 300);
  CHECK(refused > 50);
  CHECK(jobs > 10'000);
}

TEST_CASE("a served task that overruns, floods or sleeps undeclared harms no other, under every policy") {
  enum Wild { overruns, floods, sleeps };
  Random random(37);
  std::uint64_t jobs = 0, overrun = 0, wild_jobs = 0;
  for (std::uint64_t set = 0; set < 450; ++set) {
    std::vector<Contract> contracts = some_contracts(random, set % 2 == 0);
    contracts[0].on_overrun = static_cast<OverrunPolicy>(set % 3);
    Simulator sim(one_served_core({.budget = 50us, .period = 1ms}), set);
    TaskPlan wild{.contract = contracts[0]};
    const auto how = static_cast<Wild>(set / 3 % 3);
    if (how == overruns) wild.demand_to = 10 * wild.contract.budget;
    if (how == floods) wild.every = wild.contract.period / 20;
    if (how == sleeps) wild.sleeps_for = 1ms + random() % 9 * 1ms;
    if (how == sleeps) wild.sleeps_after = wild.contract.budget / static_cast<int>(2 + random() % 5);
    wild.stops_after = wild.contract.budget / 2;
    sim.add(wild);
    for (std::size_t i = 1; i < contracts.size(); ++i) sim.add({.contract = contracts[i], .jittered = true});
    sim.run(Time{600ms});
    for (std::size_t i = 1; i < contracts.size(); ++i) {
      REQUIRE(sim.report(i).misses == 0);
      REQUIRE(sim.report(i).overruns == 0);
      jobs += sim.report(i).jobs;
    }
    overrun += sim.report(0).overruns;
    wild_jobs += sim.report(0).jobs;
  }
  CHECK(jobs > 5000);
  CHECK(overrun > 500);
  CHECK(wild_jobs > 2000);
}

// (2, 10) and (6, 10) have servers of 2.1 and 6.1 ms. What the first job uses beyond that runs after the second job.
TEST_CASE("the rest of a served job that overran runs behind the core's tasks, and the next one has its place again") {
  Simulator sim(one_served_core());
  sim.add({.contract = {.period = 10ms, .deadline = 10ms, .budget = 2ms}, .demand = 3ms});
  sim.add({.contract = {.period = 10ms, .deadline = 10ms, .budget = 6ms}});
  sim.run(Time{5ms});
  CHECK(sim.report(0).jobs == 0);
  sim.run(Time{8ms});
  CHECK(sim.report(1).jobs == 1);
  CHECK(sim.report(0).jobs == 0);
  sim.run(Time{9ms});
  CHECK(sim.report(0).jobs == 1);
  CHECK(sim.report(0).worst == 9ms);
  sim.run(Time{1s});
  CHECK(sim.report(1).misses == 0);
  CHECK(sim.report(0).jobs > 40);
}

TEST_CASE("served tasks of a lost core go on elsewhere, and a served task needs no priorities") {
  ManagerOptions options = one_served_core();
  options.cores.push_back({.id = CoreId{1}, .capacity = whole_core});
  Simulator sim(options);
  for (const Duration period : {10ms, 15ms, 25ms, 40ms})
    sim.add({.contract = {.period = period, .deadline = period, .budget = period / 8}});
  sim.lose_core(CoreId{0}, Time{452ms});
  sim.run(Time{3s});
  for (std::size_t i = 0; i < sim.size(); ++i) {
    CHECK_FALSE(sim.report(i).evicted);
    CHECK(sim.report(i).core == CoreId{1});
    CHECK(sim.report(i).misses <= 1);  // the job that was under way
    CHECK(sim.report(i).jobs > 70);
  }
}

}  // namespace served_test
