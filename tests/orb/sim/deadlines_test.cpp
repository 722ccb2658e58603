// Tests cores scheduled by deadlines. What the demand analysis allows never misses, what it forbids does, and no
// overrun harms another task.
#include <algorithm>
#include <catch2/catch.hpp>
#include <vector>

#include "orb/sched/analysis/demand.h"
#include "orb/sched/analysis/edf_response.h"
#include "orb/sched/analysis/splitting.h"
#include "orb/sim/simulator.h"

namespace deadlines_test {

using namespace corelane;
using namespace corelane::sched;
using namespace corelane::sim;
using namespace std::chrono_literals;

namespace {

constexpr CoreId core{0};

// Returns a simulator with one core scheduled by deadlines, which accepts every task.
Simulator by_deadlines(std::uint64_t seed = 1) {
  ManagerOptions options;
  options.cores.push_back({.id = core, .capacity = whole_core});
  options.test = &sched::admission::none;
  Simulator sim(options, seed);
  sim.use_deadlines(core);
  return sim;
}

using Contracts = std::vector<Contract>;

DemandVerdict::Kind analysed(const Contracts& contracts) {
  std::vector<EdfTask> tasks;
  for (const Contract& contract : contracts) tasks.push_back(demand_of(contract));
  return demand_analysis(tasks).kind;
}

std::uint64_t misses(const Simulator& sim) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < sim.size(); ++i) sum += sim.report(i).misses;
  return sum;
}

// Returns contracts whose hyperperiod is 120 ms.
Contracts random_contracts(Random& random, bool jittered) {
  static constexpr Duration periods[] = {4ms, 5ms, 6ms, 8ms, 10ms, 12ms, 15ms, 20ms, 24ms, 30ms};
  Contracts contracts;
  const auto count = 2 + random() % 3;
  for (std::uint64_t i = 0; i < count; ++i) {
    const Duration period = periods[random() % 10];
    const Duration budget = period * static_cast<int>(10 + random() % 40) / 100;
    const Duration deadline = std::max(budget, period * static_cast<int>(40 + random() % 120) / 100);
    const Duration jitter = jittered ? (deadline - budget) * static_cast<int>(random() % 50) / 100 : 0ms;
    contracts.push_back({.period = period, .deadline = deadline, .budget = budget, .jitter = jitter});
  }
  return contracts;
}

}  // namespace

TEST_CASE("virtual time reproduces the published worst responses under earliest deadline first") {
  Simulator sim = by_deadlines();
  sim.add({.contract = {.period = 12ms, .deadline = 12ms, .budget = 3ms}});
  sim.add({.contract = {.period = 4ms, .deadline = 4ms, .budget = 2ms}});
  sim.run(Time{1s});
  CHECK(sim.report(0).worst == 7ms);
  CHECK(sim.report(1).worst == 2ms);
}

TEST_CASE("a set misses in virtual time exactly where the demand analysis fails") {
  Random random(11);
  int held = 0;
  int failed = 0;
  for (int set = 0; set < 600; ++set) {
    const Contracts contracts = random_contracts(random, false);
    Simulator sim = by_deadlines();
    for (const Contract& contract : contracts) sim.add({.contract = contract, .first_release = Time{}});
    sim.run(Time{600ms});
    const bool holds = analysed(contracts) == DemandVerdict::Kind::holds;
    REQUIRE((misses(sim) == 0) == holds);
    ++(holds ? held : failed);
  }
  CHECK(held > 100);
  CHECK(failed > 100);
}

TEST_CASE("sets that the demand analysis allows never miss, and respond as analysed, however late their jobs come") {
  Random random(13);
  std::uint64_t jobs = 0;
  for (std::uint64_t set = 0; set < 400; ++set) {
    const Contracts contracts = random_contracts(random, true);
    if (analysed(contracts) != DemandVerdict::Kind::holds) continue;
    Simulator sim = by_deadlines(set);
    std::vector<EdfTask> tasks;
    for (const Contract& contract : contracts) {
      sim.add({.contract = contract, .first_release = Time{random() % 20 * 1ms}, .jittered = true});
      tasks.push_back(demand_of(contract));
    }
    sim.run(Time{600ms});
    REQUIRE(misses(sim) == 0);
    for (std::size_t i = 0; i < sim.size(); ++i) {
      const Response response = edf_response_time(tasks, i);
      REQUIRE(response.verdict == Response::Verdict::exact);
      REQUIRE(sim.report(i).worst <= Duration{response.value} + contracts[i].jitter);
      jobs += sim.report(i).jobs;
    }
  }
  CHECK(jobs > 10'000);
}

TEST_CASE("a flood under a constant bandwidth server and a wild task harm no other task under EDF") {
  enum Wild { overruns, floods, oversleeps };
  Random random(17);
  std::uint64_t jobs = 0;
  std::uint64_t overrun = 0;
  std::uint64_t refused = 0;
  Duration served{};
  for (std::uint64_t set = 0; set < 400; ++set) {
    Contracts contracts = random_contracts(random, set % 2 == 0);
    contracts[0].on_overrun = static_cast<OverrunPolicy>(set % 3);
    for (std::size_t i = 0; i < contracts.size(); i += 2)
      contracts[i].suspension = std::min<Duration>((contracts[i].deadline - contracts[i].budget) / 4, 1ms);
    const Reservation r{1ms, 8ms};
    Contracts charged = contracts;
    charged.push_back({.period = r.period, .deadline = r.period, .budget = r.budget});
    if (analysed(charged) != DemandVerdict::Kind::holds) continue;
    Simulator sim = by_deadlines(set);
    const auto server = sim.add_server(
        {core, ConstantBandwidthServer(r, set % 4 < 2 ? Exhausted::postpones : Exhausted::waits), Priority{1}});
    sim.add_work({.server = server, .every = 2ms, .demand = 3ms, .random = true});
    TaskPlan wild{.contract = contracts[0]};
    const auto how = static_cast<Wild>(set / 3 % 3);
    if (how == overruns) wild.demand_to = 10 * wild.contract.budget;
    if (how == floods) wild.every = wild.contract.period / 20;
    if (how == oversleeps) wild.sleeps_for = wild.contract.suspension + 7ms;
    if (how == oversleeps) wild.sleeps_after = wild.contract.budget / 3;
    wild.stops_after = wild.contract.budget / 2;  // a cancelled job does not stop at once
    sim.add(wild);
    for (std::size_t i = 1; i < contracts.size(); ++i)
      sim.add({.contract = contracts[i],
               .jittered = true,
               .sleeps_after = contracts[i].budget / 2,
               .sleeps_for = contracts[i].suspension});
    sim.run(Time{600ms});
    for (std::size_t i = 1; i < contracts.size(); ++i) {
      REQUIRE(sim.report(i).misses == 0);
      REQUIRE(sim.report(i).overruns == 0);
      jobs += sim.report(i).jobs;
    }
    overrun += sim.report(0).overruns;
    refused += sim.report(0).refused_jobs;
    served += sim.served(server);
  }
  CHECK(jobs > 1000);
  CHECK(overrun > 200);
  CHECK(refused > 1000);
  CHECK(served > 1s);
}

TEST_CASE("the parts of a split task and the other tasks hold their deadlines on every core") {
  const auto tasks_of = [](const Contracts& contracts) {
    std::vector<EdfTask> tasks;
    for (const Contract& contract : contracts) tasks.push_back(demand_of(contract));
    return tasks;
  };
  Random random(19);
  int cut = 0;
  for (int set = 0; set < 600; ++set) {
    const std::vector<Contracts> cores{random_contracts(random, false), random_contracts(random, false)};
    if (std::any_of(cores.begin(), cores.end(),
                    [](const Contracts& c) { return analysed(c) != DemandVerdict::Kind::holds; }))
      continue;
    const std::vector<EdfTask> first = tasks_of(cores[0]);
    const std::vector<EdfTask> second = tasks_of(cores[1]);
    const std::vector<std::span<const EdfTask>> spans{first, second};
    std::vector<SplitPart> parts(2);
    const EdfTask task = demand_of(random_contracts(random, false)[0]);
    const Split result = split(spans, task, parts);
    if (result.kind != DemandVerdict::Kind::holds || result.count < 2) continue;
    ++cut;
    REQUIRE(parts[0].part.budget + parts[1].part.budget == task.budget);
    REQUIRE(parts[1].offset + parts[1].part.deadline == task.deadline);
    for (const SplitPart& part : parts) {
      Simulator sim = by_deadlines();
      for (const Contract& contract : cores[part.core]) sim.add({.contract = contract});
      sim.add({.contract = {.period = Duration{part.part.period},
                            .deadline = Duration{part.part.deadline},
                            .budget = Duration{part.part.budget}},
               .first_release = Time{Duration{part.offset}}});
      sim.run(Time{600ms});
      REQUIRE(misses(sim) == 0);
    }
  }
  CHECK(cut > 20);
}

TEST_CASE("tasks of a lost core go on by deadlines on another") {
  ManagerOptions options;
  for (const CoreId id : {CoreId{0}, CoreId{1}}) options.cores.push_back({.id = id, .capacity = whole_core});
  options.test = &sched::admission::none;
  Simulator sim(options);
  for (const CoreOptions& each : options.cores) sim.use_deadlines(each.id);
  for (const Duration period : {10ms, 15ms, 25ms, 40ms})
    sim.add(
        {.contract = {.period = period, .deadline = period, .budget = period / 5, .jitter = 1ms}, .jittered = true});
  sim.lose_core(CoreId{1}, Time{452ms});
  sim.run(Time{3s});
  std::uint64_t moves = 0;
  for (std::size_t i = 0; i < sim.size(); ++i) {
    CHECK_FALSE(sim.report(i).evicted);
    CHECK(sim.report(i).core == CoreId{0});
    CHECK(sim.report(i).misses <= 1);  // the job that was under way
    CHECK(sim.report(i).jobs > 70);
    moves += sim.report(i).moves;
  }
  CHECK(moves == 2);
}

TEST_CASE("a core by deadlines is deterministic") {
  const auto trace = [](std::uint64_t seed) {
    Simulator sim = by_deadlines(seed);
    const auto server = sim.add_server({core, ConstantBandwidthServer({2ms, 10ms}), Priority{1}});
    sim.add_work({.server = server, .every = 3ms, .demand = 2ms, .random = true});
    sim.add({.contract = {.period = 15ms, .deadline = 10ms, .budget = 3ms, .jitter = 2ms}, .jittered = true});
    sim.run(Time{500ms});
    return sim.trace_hash();
  };
  CHECK(trace(1) == trace(1));
  CHECK(trace(1) != trace(2));
}

namespace {

ManagerOptions deadline_cores(int count, const PlatformLoad& load = {}) {
  ManagerOptions options;
  for (int i = 0; i < count; ++i)
    options.cores.push_back({.id = CoreId{static_cast<std::int16_t>(i)}, .load = load, .order = CoreOrder::deadline});
  options.max_tasks = 32;
  return options;
}

}  // namespace

TEST_CASE("the manager admits to a core by deadlines what the demand analysis allows, and tells worst responses") {
  Random random(23);
  int admitted = 0;
  int refused = 0;
  std::uint64_t equal = 0;
  for (std::uint64_t set = 0; set < 400; ++set) {
    ManagerOptions options = deadline_cores(1);
    options.cores[0].capacity = whole_core;
    Simulator sim(options, set);
    Contracts there;
    for (Contract contract : random_contracts(random, set % 2 == 0)) {
      contract.on_overrun = OverrunPolicy::demote;  // a job that may run ahead of its release makes bounds wider
      Contracts with = there;
      with.push_back(contract);
      const auto plan = sim.add({.contract = contract, .first_release = Time{1ms}, .jittered = set % 2 == 0});
      sim.run(Time{});
      REQUIRE(sim.report(plan).admitted == (analysed(with) == DemandVerdict::Kind::holds));
      if (sim.report(plan).admitted) there = with;
      ++(sim.report(plan).admitted ? admitted : refused);
    }
    sim.run(Time{600ms});
    for (std::size_t i = 0; i < sim.size(); ++i) {
      if (!sim.report(i).admitted) continue;
      REQUIRE(sim.report(i).misses == 0);
      REQUIRE(sim.report(i).worst <= sim.manager().find(sim.report(i).task)->response);
      equal += sim.report(i).worst == sim.manager().find(sim.report(i).task)->response ? 1 : 0;
    }
  }
  CHECK(admitted > 500);
  CHECK(refused > 50);
  CHECK(equal > 300);
}

TEST_CASE("beside platform load no task on a core by deadlines misses or is later than analyzed") {
  Random random(29);
  std::uint64_t jobs = 0;
  std::uint64_t refused = 0;
  for (std::uint64_t set = 0; set < 300; ++set) {
    Simulator sim(deadline_cores(1, {.budget = 300us, .period = 2ms}), set);
    for (int i = 0; i < 2; ++i)
      for (const Contract& contract : random_contracts(random, set % 2 == 0))
        sim.add({.contract = contract, .first_release = Time{random() % 20 * 1ms}, .jittered = set % 2 == 0});
    sim.run(Time{600ms});
    for (std::size_t i = 0; i < sim.size(); ++i) {
      const auto& report = sim.report(i);
      refused += report.admitted ? 0 : 1;
      REQUIRE(report.misses == 0);
      if (report.admitted) REQUIRE(report.worst <= report.bound);
      jobs += report.jobs;
    }
  }
  CHECK(jobs > 10'000);
  CHECK(refused > 100);
}

TEST_CASE("a core by deadlines takes a set that no priorities can serve, and one by priorities does not") {
  const Contracts contracts{{.period = 10ms, .deadline = 10ms, .budget = 5ms},
                            {.period = 14ms, .deadline = 14ms, .budget = 6ms}};
  for (const CoreOrder order : {CoreOrder::priority, CoreOrder::deadline}) {
    ManagerOptions options = deadline_cores(1);
    options.cores[0].order = order;
    Simulator sim(options);
    for (const Contract& contract : contracts) sim.add({.contract = contract});
    sim.run(Time{1s});
    CHECK(sim.report(0).admitted);
    CHECK(sim.report(1).admitted == (order == CoreOrder::deadline));
    CHECK(misses(sim) == 0);
  }
}

TEST_CASE("a task that locks resources goes to a core by priorities") {
  ManagerOptions options = deadline_cores(2);
  options.cores[1].order = CoreOrder::priority;
  options.cores[1].load = {.budget = 1ms, .period = 4ms};  // the other core has more room
  Simulator sim(options);
  Contract contract{.period = 10ms, .deadline = 10ms, .budget = 1ms};
  const auto free = sim.add({.contract = contract});
  contract.uses[0] = {ResourceId{7}, 500us};
  const auto locks = sim.add({.contract = contract});
  sim.run(Time{});
  CHECK(sim.report(free).core == CoreId{0});
  CHECK(sim.report(locks).core == CoreId{1});
}

TEST_CASE("a refusal by deadlines names the demand that is too much, and what would fit") {
  Manager manager(deadline_cores(1));
  const Contract half{.period = 10ms, .deadline = 5ms, .budget = 4ms};
  (void)manager.decide(Proposed{.at = {}, .request = JobId{1}, .contract = half});
  const auto commands = manager.decide(Proposed{.at = {}, .request = JobId{2}, .contract = half});
  REQUIRE(commands.size() == 1);
  const auto* refuse = std::get_if<Refuse>(&commands[0]);
  REQUIRE(refuse != nullptr);
  CHECK(refuse->reason.code == RefusalCode::not_schedulable);
  CHECK(refuse->reason.response == 8ms);
  CHECK(refuse->reason.deadline == 5ms);
  CHECK(manager.nearest(half).found());
}

}  // namespace deadlines_test
