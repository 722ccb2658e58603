// Tests that the work of one admission is bounded, whatever the periods are. Decisions by bounds never admit more than
// the exact tests would.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "orb/sched/admission/core_task_set.h"
#include "tests/orb/sched/manager_fixture.h"

namespace bounded_analysis_test {

using namespace corelane;
using namespace corelane::sched;
using namespace corelane::sched::testing;
using namespace std::chrono_literals;

namespace {

using Random = std::mt19937_64;

std::int64_t below(Random& random, std::int64_t end) {
  return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(end));
}

Duration any_period(Random& random) {
  std::uniform_real_distribution<double> logarithm(std::log(1e6), std::log(3.6e12));
  return Duration{static_cast<std::int64_t>(std::exp(logarithm(random)))};
}

// Makes a contract that uses `ppm` of a core, with any of the optional properties.
Contract any_contract(Random& random, std::int64_t ppm, Duration period) {
  const Duration deadline = std::min<Duration>(period * (60 + below(random, 80)) / 100, longest_period);
  const Duration budget = std::max<Duration>(1ns, Duration{period.count() / 1'000'000 * ppm});
  Contract contract{.period = period,
                    .deadline = deadline,
                    .budget = std::min(deadline, budget),
                    .jitter = deadline * below(random, 30) / 100,
                    .on_overrun = static_cast<OverrunPolicy>(below(random, 3))};
  if (below(random, 5) == 0) contract.suspension = (deadline - contract.budget) / 4;
  if (below(random, 5) == 0 && contract.suspension == 0ns) contract.uses[0] = use_of("bus", contract.budget / 3 + 1ns);
  return contract;
}

struct Family {
  const char* name;
  Contract (*contract)(Random& random, int i);
  CoreOrder second = CoreOrder::priority;
};

Contract all_alike(Random&, int) { return {.period = 1h, .deadline = 1h, .budget = 12s, .jitter = 6min}; }
Contract nearly_alike(Random& random, int) {
  const Duration period = longest_period - Duration{below(random, 1'000'000'000)};
  return make_contract(period, period / 400);
}
Contract long_beside_short(Random& random, int i) {
  const Duration period =
      i % 2 == 0 ? 1ms + Duration{below(random, 1000)} : longest_period - Duration{below(random, 9999)};
  return make_contract(period, period / 400);
}
Contract of_all_lengths(Random& random, int) {
  const Duration period = any_period(random);
  return make_contract(period, period / 250);
}
Contract of_all_kinds(Random& random, int) { return any_contract(random, 3'000, any_period(random)); }
Contract hardly_any(Random&, int) { return make_contract(1h, 1us); }

constexpr Family families[] = {{"alike", all_alike},
                               {"nearly alike", nearly_alike},
                               {"long beside short", long_beside_short},
                               {"of all lengths", of_all_lengths},
                               {"of all kinds", of_all_kinds},
                               {"hardly any", hardly_any},
                               {"alike, by deadlines", all_alike, CoreOrder::deadline},
                               {"long beside short, by deadlines", long_beside_short, CoreOrder::deadline},
                               {"of all lengths, by deadlines", of_all_lengths, CoreOrder::deadline},
                               {"of all kinds, in servers", of_all_kinds, CoreOrder::served}};

constexpr int piece = 32;  // evaluations

int pieces_for(Manager& manager, const Contract& contract) {
  manager.prepare({}, contract);
  int pieces = 1;
  while (!manager.continue_preparing(piece)) ++pieces;
  return pieces;
}

ManagerOptions two_cores(CoreOrder second) {
  ManagerOptions options = cores_of(2);
  for (CoreOptions& core : options.cores) core.load = {.budget = 20us, .period = 1ms};
  options.cores[1].order = second;
  options.levels = 47;
  return options;
}

// One core's tasks, and the exact and the cut analysis of one more.
struct OneCore {
  explicit OneCore(Random& random) {
    model.order = static_cast<CoreOrder>(below(random, 3));
    model.capacity = share_of_ppm(default_capacity);
    model.above.reserve(max_interference + 1);
    model.set({.budget = 20us, .period = 1ms, .jitter = Duration{below(random, 200'000)}, .blocking = 5us}, {});
    levels = model.order == CoreOrder::priority ? 1 + static_cast<int>(below(random, 12)) : 47;
    charges = below(random, 2) == 0;
    for (CoreTaskSet* task_set : {&members, &exact, &cut}) task_set->reserve(64);
  }
  Member member(const Contract& contract) {
    ++age;
    return {.slot = static_cast<std::uint32_t>(age), .demand = demand_of(contract, age, charges)};
  }
  static const Verdict& run(CoreTaskSet& task_set, int slice) {
    for (int left = slice; !task_set.step(left); left = slice) {
    }
    return task_set.verdict();
  }

  CoreModel model;
  int levels = 1;
  bool charges = false;
  std::uint64_t age = 0;
  CoreTaskSet members, exact, cut;
};

constexpr int all_at_once = std::numeric_limits<int>::max();
constexpr Effort without_end{.exact = std::numeric_limits<int>::max()};

}  // namespace

TEST_CASE("the analysis of one new task takes a bounded number of pieces, whatever the periods") {
  constexpr int most_pieces = 4'500;  // exact evaluations for the cores, a packing and its phases, and single passes
  for (const Family& family : families) {
    INFO(family.name);
    Random random(7);
    Bench b(two_cores(family.second));
    int worst = 0, refused = 0;
    for (int i = 0; i < 700; ++i) {
      const Contract contract = family.contract(random, i);
      worst = std::max(worst, pieces_for(b.manager, contract));
      refused += static_cast<int>(only<Refuse>(b.propose(contract)).size());
    }
    CHECK(worst < most_pieces);
    CHECK(refused > 0);
  }
}

TEST_CASE("a new task that no repacking can make room for costs no repacking") {
  SECTION("since every core has as many tasks as it analyses") {
    Bench b(two_cores(CoreOrder::priority));
    Random random(1);
    while (only<Refuse>(b.propose(hardly_any(random, 0))).empty()) {
    }
    CHECK(pieces_for(b.manager, hardly_any(random, 0)) <= 4);
  }
  SECTION("since the cores are used up") {
    Bench b(cores_of(2));
    for (int i = 0; i < 190; ++i) b.admitted({.period = 100ms, .deadline = 100ms, .budget = 1ms});
    CHECK(pieces_for(b.manager, {.period = 100ms, .deadline = 100ms, .budget = 1ms}) <= 40);
    b.refused({.period = 100ms, .deadline = 100ms, .budget = 1ms});
  }
}

TEST_CASE("a shortened exact analysis admits no task that the whole analysis refuses") {
  int by_bounds = 0, all = 0, refused = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    Random random(seed);
    OneCore core(random);
    const bool wide = below(random, 2) == 0;
    for (int i = 0; i < 24; ++i) {
      const Duration period = wide ? any_period(random) : 1ms + Duration{below(random, 100'000'000)};
      const Member candidate = core.member(any_contract(random, 1'000 + below(random, 90'000), period));
      core.exact.copy_from(core.members);
      core.exact.begin_add(core.model, candidate, admission::response_time, core.levels, without_end);
      const bool fits = OneCore::run(core.exact, all_at_once).fits;
      const Effort effort{.exact = below(random, 3) == 0 ? static_cast<int>(below(random, 60)) : 0,
                          .bounds_first = below(random, 2) == 0};
      core.cut.copy_from(core.members);
      core.cut.begin_add(core.model, candidate, admission::response_time, core.levels, effort);
      const bool fits_by_bounds = OneCore::run(core.cut, all_at_once).fits;
      CAPTURE(seed, i, effort.exact, effort.bounds_first);
      all += fits;
      refused += !fits;
      by_bounds += fits_by_bounds;
      if (fits_by_bounds) {
        REQUIRE(fits);
        for (std::size_t m = 0; core.model.order == CoreOrder::priority && m < core.cut.members().size(); ++m) {
          CHECK(core.cut.members()[m].response >= core.exact.members()[m].response);
          CHECK(core.cut.members()[m].response <= core.cut.members()[m].demand.deadline);
        }
      }
      if (fits && below(random, 8) != 0) core.members.copy_from(fits_by_bounds ? core.cut : core.exact);
      if (below(random, 10) == 0 && !core.members.members().empty())
        core.members.remove(core.members.members()[0].slot, below(random, 2) == 0);
    }
  }
  CHECK(by_bounds > all / 4);
  CHECK(refused > 500);
}

TEST_CASE("an analysis that is cut short ends alike in pieces of any size") {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Random random(seed);
    OneCore core(random);
    for (int i = 0; i < 20; ++i) {
      const Member candidate = core.member(any_contract(random, 1'000 + below(random, 60'000), any_period(random)));
      const Effort effort{.exact = static_cast<int>(below(random, 200)), .bounds_first = below(random, 2) == 0};
      core.exact.copy_from(core.members);
      core.exact.begin_add(core.model, candidate, admission::response_time, core.levels, effort);
      const Verdict whole = OneCore::run(core.exact, all_at_once);
      core.cut.copy_from(core.members);
      core.cut.begin_add(core.model, candidate, admission::response_time, core.levels, effort);
      const Verdict in_pieces = OneCore::run(core.cut, 1 + static_cast<int>(below(random, 40)));
      CAPTURE(seed, i, effort.exact);
      REQUIRE(whole.fits == in_pieces.fits);
      CHECK(whole.undecided == in_pieces.undecided);
      CHECK(whole.loser == in_pieces.loser);
      CHECK(core.exact.spent() == core.cut.spent());
      if (!whole.fits) continue;
      for (std::size_t m = 0; m < core.cut.members().size(); ++m)
        CHECK(core.cut.members()[m].response == core.exact.members()[m].response);
      core.members.copy_from(core.exact);
    }
  }
}

TEST_CASE("responses that are bounds become exact when they are refreshed") {
  int loose = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Random random(seed);
    OneCore core(random);
    core.model.order = CoreOrder::priority;
    for (int i = 0; i < 12; ++i) {
      const Member candidate = core.member(any_contract(random, 20'000, any_period(random)));
      core.cut.copy_from(core.members);
      core.cut.begin_add(core.model, candidate, admission::response_time, core.levels, {.exact = 0});
      if (OneCore::run(core.cut, all_at_once).fits) core.members.copy_from(core.cut);
    }
    core.exact.copy_from(core.members);
    core.exact.begin_refresh(core.model);
    CHECK(OneCore::run(core.exact, 7).fits);
    for (std::size_t m = 0; m < core.members.members().size(); ++m) {
      const Ticks before = core.members.members()[m].response;
      const Ticks after = core.exact.members()[m].response;
      CHECK(after <= before);
      loose += after < before;
    }
  }
  CHECK(loose > 100);
}

TEST_CASE("a refresh that runs out of evaluations leaves bounds that hold") {
  Bench b(two_cores(CoreOrder::priority));
  Random random(3);
  for (int i = 0; i < 400; ++i) b.propose(of_all_lengths(random, i));
  int rounds = 0;
  while (b.manager.has_stale_bounds() && rounds < 10'000) ++rounds, (void)b.manager.refresh_bounds(piece);
  CHECK_FALSE(b.manager.has_stale_bounds());
  for (const TaskView& task : b.manager.tasks()) {
    CHECK(task.response >= task.contract.budget);
    CHECK(task.response <= task.contract.deadline);
  }
}

TEST_CASE("the bound of a busy period is no less than the longest one, and is taken when that takes too long") {
  int found = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Random random(seed);
    std::vector<Interference> all;
    for (int i = 0; i < 12; ++i) {
      const Ticks period = 1 + below(random, 10'000);
      all.push_back({.budget = 1 + below(random, period / 10 + 1), .period = period, .jitter = below(random, period)});
    }
    const Ticks blocking = below(random, 500);
    const Ticks longest = busy_period(all, blocking, 1'000'000);
    const Ticks bound = busy_period_bound(all, blocking);
    CHECK(bound >= longest);
    if (longest == endless) continue;
    ++found;
    CHECK(busy_period(all, blocking, 0) == bound);
  }
  CHECK(found > 100);
}

}  // namespace bounded_analysis_test
