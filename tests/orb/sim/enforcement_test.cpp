// Tests enforced contracts: one task misbehaves, and every other task keeps its analyzed bound in virtual time.
#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "orb/sim/simulator.h"
#include "orb/sim/workload.h"

using namespace corelane;
using namespace corelane::sim;
using namespace std::chrono_literals;

namespace {

sched::ManagerOptions one_core(sched::CoreOrder order = sched::CoreOrder::priority, bool charges = false) {
  sched::ManagerOptions options;
  options.charge_overruns = charges;
  options.cores.push_back({.id = CoreId{0}, .capacity = sched::whole_core, .order = order});
  return options;
}

Contract contract(Duration budget, Duration period, OverrunPolicy policy = OverrunPolicy::report) {
  return {.period = period, .deadline = period, .budget = budget, .on_overrun = policy};
}

struct Fault {
  const char* name;
  void (*apply)(TaskPlan& plan);
};

// What the misbehaving task does, in addition to its contract and to the policy that the test chooses.
const Fault faults[] = {
    {"demands ten times its budget", [](TaskPlan& p) { p.demand = 10 * p.contract.budget; }},
    {"demands more at random", [](TaskPlan& p) { p.demand_to = 5 * p.contract.budget; }},
    {"never ends", [](TaskPlan& p) { p.demand = 10s; }},
    {"goes on after it was cancelled", [](TaskPlan& p) { p.demand = p.stops_after = 3 * p.contract.budget; }},
    {"sends a hundred times too often", [](TaskPlan& p) { p.every = p.contract.period / 100; }},
    {"sends too often and demands too much",
     [](TaskPlan& p) { p.every = p.contract.period / 10, p.demand_to = 4 * p.contract.budget; }},
    {"demands much too much now and then", [](TaskPlan& p) { p.demand_to = 20 * p.contract.budget, p.one_in = 4; }},
    {"suspends itself for long now and then",
     [](TaskPlan& p) { p.sleeps_after = p.contract.budget / 3, p.sleeps_for = 4 * p.contract.period, p.one_in = 4; }},
    {"suspends itself undeclared",
     [](TaskPlan& p) { p.sleeps_after = p.contract.budget / 2, p.sleeps_for = p.contract.period / 2; }},
    {"suspends itself for longer than declared",
     [](TaskPlan& p) {
       p.contract.suspension = (p.contract.deadline - p.contract.budget) / 8;
       p.sleeps_after = p.contract.budget / 3;
       p.sleeps_for = 3 * p.contract.suspension + p.contract.period;
     }},
    {"suspends itself as declared and demands too much",
     [](TaskPlan& p) {
       p.contract.suspension = (p.contract.deadline - p.contract.budget) / 8;
       p.sleeps_after = p.contract.budget / 3;
       p.sleeps_for = p.contract.suspension;
       p.demand_to = 3 * p.contract.budget;
     }},
};

// One core nearly full of random tasks; the first of them misbehaves.
class Core {
 public:
  Core(std::uint64_t seed, bool early, sched::CoreOrder order = sched::CoreOrder::priority, bool charges = false)
      : random_(seed), sim_(one_core(order, charges), seed) {
    sim_.allow_early(early);
  }

  void fill(const Fault& fault, OverrunPolicy policy) {
    const int count = 2 + static_cast<int>(random_() % 4);
    for (const double u : uunifast(random_, count, 0.5 + 0.45 * uniform(random_))) add(u, fault, policy);
    sim_.run(Time{2s});
  }
  void judge(std::uint64_t& jobs) {
    for (std::size_t i = 1; i < sim_.size(); ++i) {
      const TaskReport& report = sim_.report(i);
      if (!report.admitted) continue;
      jobs += report.jobs;
      INFO("task " << i << " responded in " << report.worst.count() << " of " << bound(report).count());
      REQUIRE(report.misses == 0);
      REQUIRE(report.worst <= bound(report));
    }
  }
  const TaskReport& rogue() const { return sim_.report(0); }
  std::uint64_t hash() const { return sim_.trace_hash(); }

 private:
  void add(double u, const Fault& fault, OverrunPolicy policy) {
    TaskPlan plan{.contract = contract_of(std::max(u, 0.01), log_uniform_period(random_, 5ms, 100ms))};
    plan.contract.jitter = plan.contract.deadline * static_cast<int>(random_() % 20) / 100;
    plan.first_release = Time{1ms};
    plan.jittered = true;
    if (sim_.size() == 0) {
      plan.contract.on_overrun = policy;
      fault.apply(plan);
    }
    sim_.add(plan);
  }
  Duration bound(const TaskReport& report) { return sim_.manager().find(report.task)->response; }

  Random random_;
  Simulator sim_;
};

}  // namespace

TEST_CASE("the other tasks keep their bounds, whatever one task does, if budgets are enforced or overruns charged") {
  const OverrunPolicy policy = GENERATE(OverrunPolicy::report, OverrunPolicy::demote, OverrunPolicy::cancel);
  const bool early = GENERATE(false, true);
  std::uint64_t jobs = 0;
  std::uint64_t overruns = 0;
  for (const Fault& fault : faults) {
    INFO("a task that " << fault.name);
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
      const bool charges = policy == OverrunPolicy::report || seed % 2 == 0;
      Core core(seed, early, sched::CoreOrder::priority, charges);
      core.fill(fault, policy);
      core.judge(jobs);
      overruns += core.rogue().overruns;
    }
  }
  CHECK(jobs > 5'000);
  CHECK(overruns > 100);
}

TEST_CASE("a caller that sends too often harms no other task under any policy and gets more where the core is idle") {
  std::uint64_t on_time = 0;
  std::uint64_t early = 0;
  const Fault& flood = faults[4];
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Core strict(seed, false);
    strict.fill(flood, OverrunPolicy::report);
    strict.judge(on_time);
    Core generous(seed, true);
    generous.fill(flood, OverrunPolicy::report);
    generous.judge(early);
    CHECK(generous.rogue().jobs > strict.rogue().jobs);
  }
}

TEST_CASE("under report an overrun is counted and others may be late") {
  Simulator sim(one_core());
  const auto rogue = sim.add({.contract = contract(2ms, 10ms), .first_release = Time{1ms}, .demand = 9ms});
  const auto other = sim.add({.contract = contract(5ms, 20ms), .first_release = Time{1ms}});
  sim.run(Time{1s});
  CHECK(sim.report(rogue).overruns == sim.report(rogue).jobs);
  CHECK(sim.report(other).misses > 0);
}

TEST_CASE("under report an overrun that is charged takes the places of the task's own next jobs") {
  Simulator sim(one_core(sched::CoreOrder::priority, true));
  const auto rogue = sim.add({.contract = contract(2ms, 10ms), .first_release = Time{1ms}, .demand = 9ms});
  const auto other = sim.add({.contract = contract(9ms, 20ms), .first_release = Time{1ms}});
  sim.run(Time{1s});
  // In each 20 ms, it has 2 ms twice, and the 7 ms that the other task leaves. Two jobs of 9 ms take about 36 ms.
  CHECK(sim.report(rogue).overruns == sim.report(rogue).jobs);
  CHECK(sim.report(rogue).jobs >= 50);
  CHECK(sim.report(rogue).misses > 0);
  CHECK(sim.report(other).misses == 0);
  CHECK(sim.report(other).worst == 13ms);
  CHECK(sim.report(other).jobs == 50);
}

TEST_CASE("a job that is charged for its overrun has its budget in each period even where others fill the core") {
  Simulator sim(one_core(sched::CoreOrder::priority, true));
  const auto rogue = sim.add({.contract = contract(2ms, 10ms), .first_release = Time{1ms}, .demand = 6ms});
  sim.add({.contract = contract(8ms, 20ms, OverrunPolicy::demote), .first_release = Time{1ms}});
  sim.add({.contract = contract(7ms, 20ms, OverrunPolicy::demote), .first_release = Time{1ms}});
  sim.run(Time{1s});
  CHECK(sim.report(rogue).worst >= 22ms);
  CHECK(sim.report(rogue).jobs >= 33);
}

TEST_CASE("a cancelled job is no miss and the next one runs on time") {
  Simulator sim(one_core());
  const auto rogue = sim.add({.contract = contract(2ms, 10ms, OverrunPolicy::cancel),
                              .first_release = Time{1ms},
                              .demand = 8ms,
                              .stops_after = 1ms});
  sim.run(Time{100ms});
  CHECK(sim.report(rogue).jobs == 10);
  CHECK(sim.report(rogue).cancelled == 10);
  CHECK(sim.busy(CoreId{0}) == 30ms);
}

TEST_CASE("a task gets the time that its demoted job leaves of the core") {
  Simulator sim(one_core());
  const auto rogue =
      sim.add({.contract = contract(2ms, 10ms, OverrunPolicy::demote), .first_release = Time{1ms}, .demand = 5ms});
  const auto other = sim.add({.contract = contract(4ms, 10ms), .first_release = Time{1ms}});
  sim.run(Time{1s});
  CHECK(sim.report(rogue).misses == 0);
  CHECK(sim.report(rogue).worst == 9ms);
  CHECK(sim.report(other).worst == 6ms);
}

TEST_CASE("a declared suspension keeps the bounds of all tasks") {
  Simulator sim(one_core());
  Contract sleeper = contract(2ms, 10ms, OverrunPolicy::demote);
  sleeper.suspension = 3ms;
  const auto rogue = sim.add({.contract = sleeper, .first_release = Time{1ms}, .sleeps_after = 1ms, .sleeps_for = 3ms});
  const auto other = sim.add({.contract = contract(6ms, 30ms), .first_release = Time{1ms}});
  sim.run(Time{1s});
  CHECK(sim.report(rogue).overruns == 0);
  CHECK(sim.report(rogue).worst == 5ms);
  CHECK(sim.report(rogue).misses == 0);
  CHECK(sim.report(other).worst <= sim.manager().find(sim.report(other).task)->response);
  CHECK(sim.report(other).misses == 0);
}

TEST_CASE("the trace of a core with faults is the same for a seed") {
  for (const Fault& fault : faults) {
    const auto trace = [&](std::uint64_t seed) {
      Core core(seed, true);
      core.fill(fault, OverrunPolicy::demote);
      return core.hash();
    };
    CHECK(trace(3) == trace(3));
    CHECK(trace(3) != trace(4));
  }
}

TEST_CASE("under immediate ceilings no job finds a resource locked and all keep their bounds") {
  const bool enforced = GENERATE(false, true);
  const bool charges = GENERATE(false, true);
  std::uint64_t jobs = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Random random(seed);
    Simulator sim(one_core(sched::CoreOrder::priority, charges), seed);
    const int count = 3 + static_cast<int>(random() % 4);
    for (const double u : uunifast(random, count, 0.4 + 0.5 * uniform(random))) {
      TaskPlan plan{.contract = contract_of(std::max(u, 0.01), log_uniform_period(random, 5ms, 100ms))};
      plan.contract.jitter = plan.contract.deadline / 20;
      plan.first_release = Time{1ms};
      plan.jittered = true;
      const Duration third = plan.contract.budget / 3;
      plan.contract.uses[0] = {ResourceId{1 + static_cast<std::uint32_t>(random() % 2)}, third};
      plan.locks_after = Duration{static_cast<std::int64_t>(uniform(random) * static_cast<double>(third.count()))};
      plan.locks_for = third;
      // Some tasks come late, and raise a ceiling while others are in their sections.
      if (random() % 3 == 0) plan.proposed = plan.first_release = Time{Duration{1 + random() % 300'000'000}};
      if (enforced && !charges) plan.contract.on_overrun = OverrunPolicy::demote;
      if (enforced && sim.size() == 0) {  // overruns inside its section
        plan.demand = 4 * plan.contract.budget;
        plan.locks_after = plan.contract.budget - third / 2;
      }
      sim.add(plan);
    }
    sim.run(Time{2s});
    CHECK(sim.collisions() == 0);
    for (std::size_t i = enforced ? 1 : 0; i < sim.size(); ++i) {
      const TaskReport& report = sim.report(i);
      if (!report.admitted) continue;
      jobs += report.jobs;
      REQUIRE(report.misses == 0);
      REQUIRE(report.worst <= sim.manager().find(report.task)->response);
    }
  }
  CHECK(jobs > 5'000);
}

// On a core scheduled by deadlines, an overrun would harm all tasks. So the task's own next jobs pay for it, also under
// `report`.
TEST_CASE("the other tasks on a core by deadlines keep their bounds under every policy, whatever one task does") {
  const OverrunPolicy policy = GENERATE(OverrunPolicy::report, OverrunPolicy::demote, OverrunPolicy::cancel);
  std::uint64_t jobs = 0;
  std::uint64_t overruns = 0;
  for (const Fault& fault : faults) {
    INFO("a task that " << fault.name);
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
      Core core(seed, seed % 2 == 0, sched::CoreOrder::deadline);
      core.fill(fault, policy);
      core.judge(jobs);
      overruns += core.rogue().overruns;
    }
  }
  CHECK(jobs > 5'000);
  CHECK(overruns > 100);
}
