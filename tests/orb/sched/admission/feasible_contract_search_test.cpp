// Tests the search, in pieces, for a contract that would fit.
#include "orb/sched/admission/feasible_contract_search.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <string>
#include <string_view>

#include "tests/orb/sched/manager_fixture.h"

namespace feasible_contract_search_test {

using namespace corelane;
using namespace corelane::sched;
using namespace corelane::sched::testing;
using namespace std::chrono_literals;

namespace {

ManagerOptions unmoved() {
  ManagerOptions options = cores_of(2);
  options.repack = false;
  return options;
}

// Proposes random tasks.
void fill(Bench& b, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  for (int i = 0; i < 12; ++i) {
    const Duration period = 1ms * static_cast<int>(5 + random() % 95);
    b.propose({.period = period,
               .deadline = period * static_cast<int>(50 + random() % 100) / 100,
               .budget = period * static_cast<int>(2 + random() % 20) / 100,
               .jitter = period / 20});
  }
}

const Contract wish{.period = 40ms, .deadline = 30ms, .budget = 15ms, .jitter = 1ms};

Contract with(Contract contract, const Nearest& nearest) {
  contract.period = nearest.period;
  contract.deadline = nearest.deadline;
  contract.budget = nearest.budget;
  contract.jitter = nearest.jitter;
  contract.suspension = nearest.suspension;
  return contract;
}

// Makes a contract that uses at most `percent` of a core, in odd nanoseconds.
Contract any_contract(std::mt19937_64& random, std::uint64_t percent) {
  const auto below = [&](std::int64_t end) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(end));
  };
  const Duration period{1'000'000 + below(50'000'000)};
  const Duration deadline = period * (60 + below(80)) / 100;
  Contract contract{.period = period,
                    .deadline = deadline,
                    .budget = std::min(deadline, period * (1 + below(static_cast<std::int64_t>(percent))) / 100),
                    .jitter = deadline * below(20) / 100,
                    .importance = static_cast<std::int16_t>(below(3)),
                    .on_overrun = static_cast<OverrunPolicy>(below(3))};
  if (below(4) == 0) contract.suspension = (deadline - contract.budget) / 3;
  if (below(4) == 0 && contract.suspension == 0ns) contract.uses[0] = use_of("bus", contract.budget / 4);
  return contract;
}

// Reads a proposal as somebody does who pastes it. Each value follows `before`, the field's name and `between`, up to
// `end`. If `end` is empty, a comma or a brace ends it.
Nearest pasted(const std::string& text, const std::string& before, const std::string& between, const std::string& end) {
  const auto field = [&](const std::string& name) -> Duration {
    const auto at = text.find(before + name + between);
    if (at == text.npos) return Duration::zero();
    const auto begin = at + before.size() + name.size() + between.size();
    const auto stop = end.empty() ? text.find_first_of(",}", begin) : text.find(end, begin);
    return parse_duration(std::string_view(text).substr(begin, stop - begin)).value();
  };
  return {field("period"), field("deadline"), field("budget"), field("jitter"), field("suspension")};
}

// Returns the answer found in pieces of that many evaluations, and the number of pieces.
std::pair<Nearest, int> in_pieces(Manager& manager, const Contract& contract, int evaluations) {
  manager.begin_nearest(contract);
  for (int pieces = 1;; ++pieces)
    if (const auto found = manager.continue_nearest(evaluations)) return {*found, pieces};
}

}  // namespace

TEST_CASE("the contract that would fit is the same in pieces of any size") {
  int found = 0;
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    Bench b(unmoved());
    fill(b, seed);
    const Nearest whole = b.manager.nearest(wish);
    found += whole.found();
    for (const int evaluations : {1, 7, 100}) {
      const auto [nearest, pieces] = in_pieces(b.manager, wish, evaluations);
      CHECK(nearest == whole);
      if (evaluations == 1) CHECK(pieces > 10);
    }
  }
  CHECK(found > 10);
}

TEST_CASE("the contract that is found in pieces is admitted") {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    Bench b(unmoved());
    fill(b, seed);
    const Nearest nearest = in_pieces(b.manager, wish, 20).first;
    if (nearest.found()) b.admitted(with(wish, nearest));
  }
}

// Contracts of all kinds, on cores scheduled by priorities, by deadlines and by the kernel's servers, beside tasks with
// jitter, suspensions and resources.
TEST_CASE("the contract that a refusal's text proposes is admitted on the same state, from its C++ and from its TOML") {
  int proposals = 0, rounded_ones = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    std::mt19937_64 random(seed);
    ManagerOptions options = unmoved();
    options.cores[1].order = static_cast<CoreOrder>(seed % 3);
    options.cores[0].load = {.budget = 37'123ns, .period = 1ms, .blocking = 20us};
    Bench b(options);
    for (int i = 0; i < 16; ++i) b.propose(any_contract(random, 20));
    const Contract asked = any_contract(random, 90);
    const auto refusals = only<Refuse>(b.propose(asked));
    if (refusals.empty()) continue;
    Refusal refusal = refusals[0].reason;
    refusal.nearest = b.manager.nearest(asked);
    if (!refusal.nearest.found()) continue;
    ++proposals;
    rounded_ones += rounded(refusal.nearest.period, Rounding::up) == refusal.nearest.period;
    CAPTURE(seed, text_of(refusal));
    CHECK(refusal.nearest.jitter == asked.jitter);
    CHECK(refusal.nearest.suspension == asked.suspension);
    const Nearest cpp = pasted(text_of(refusal), ".", " = ", {});
    const Nearest toml = pasted(text_of(refusal), "", " = \"", "\"");
    CHECK(cpp == refusal.nearest);
    CHECK(toml == refusal.nearest);
    b.admitted(with(asked, toml));
  }
  CHECK(proposals > 100);
  CHECK(rounded_ones > proposals / 2);
}

// The default jitter grows with the period. With it, a pasted proposal would need more.
TEST_CASE("a proposal is admitted though the default jitter of its period would not be") {
  Bench b(cores_of(1));
  b.admitted(make_contract(10ms, 5ms, 6ms));
  const Contract asked = make_contract(5ms, 3900us, 4ms);
  b.refused(asked);
  const Nearest nearest = b.manager.nearest(asked);
  REQUIRE(nearest.found());
  CHECK(nearest.jitter == asked.jitter);
  b.admitted(with(asked, nearest));
}

TEST_CASE("a question starts over when a task comes or leaves in between") {
  Bench b(cores_of(1));
  const TaskId old = b.admitted(share_of_core(60));
  const Contract asked = share_of_core(50);
  b.manager.begin_nearest(asked);
  CHECK_FALSE(b.manager.continue_nearest(3));
  b.tell(Departed{Time{}, old});
  b.vacated(old, CoreId{0});
  std::optional<Nearest> found;
  while (!found) found = b.manager.continue_nearest(3);
  CHECK(*found ==
        Nearest{asked.period, asked.deadline, asked.budget, asked.jitter, asked.suspension});  // now it fits as it is
}

TEST_CASE("jobs that arrive in between disturb no question") {
  Bench b(cores_of(1));
  const TaskId task = b.admitted(share_of_core(60));
  const Nearest whole = b.manager.nearest(share_of_core(50));
  b.manager.begin_nearest(share_of_core(50));
  std::optional<Nearest> found;
  for (std::uint64_t job = 1; !found; ++job) {
    b.tell(Arrived{Time{}, JobId{1000 + job}, task, PeerId{}, std::nullopt});
    found = b.manager.continue_nearest(2);
  }
  CHECK(*found == whole);
}

TEST_CASE("a question that never gets to its end is given up") {
  Bench b(cores_of(1));
  b.admitted(share_of_core(60));
  b.manager.begin_nearest(share_of_core(50));
  std::optional<Nearest> found;
  int rounds = 0;
  for (; !found && rounds < 100; ++rounds) {
    b.manager.set_capacity(CoreId{0}, 900'000 + rounds);
    found = b.manager.continue_nearest(1);
  }
  REQUIRE(found);
  CHECK_FALSE(found->found());
  CHECK(rounds <= FeasibleContractSearch::max_restarts + 2);
}

TEST_CASE("an unsound contract has no nearest contract") {
  Bench b(cores_of(1));
  CHECK_FALSE(b.manager.nearest({.period = 10ms, .deadline = 10ms, .budget = 11ms}).found());
  CHECK_FALSE(in_pieces(b.manager, {.period = 1ms, .deadline = 20ms, .budget = 1us}, 5).first.found());
}

}  // namespace feasible_contract_search_test
