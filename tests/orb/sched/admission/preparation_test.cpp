// Tests the analysis of a new task in pieces: the decision is the same however small the pieces are, and whatever
// happens in between.
#include <catch2/catch.hpp>
#include <memory>
#include <random>
#include <vector>

#include "orb/sched/trace/trace.h"
#include "tests/orb/sched/manager_fixture.h"

using namespace corelane;
using namespace corelane::sched;
using namespace corelane::sched::testing;
using namespace std::chrono_literals;

namespace {

int prepare(Manager& manager, const Contract& contract, int evaluations) {
  manager.prepare(PeerId{}, contract);
  int pieces = 1;
  while (!manager.continue_preparing(evaluations)) ++pieces;
  return pieces;
}

Contract random_contract(std::mt19937_64& random) {
  const Duration period = 1ms * static_cast<int>(5 + random() % 95);
  return {.period = period,
          .deadline = period * static_cast<int>(60 + random() % 41) / 100,
          .budget = period * static_cast<int>(2 + random() % 40) / 100,
          .jitter = period / 20};
}

std::vector<std::vector<std::uint64_t>> bytes_of(const std::vector<Command>& commands) {
  std::vector<std::vector<std::uint64_t>> result;
  for (const Command& command : commands) {
    TraceRecord record;
    encode(command, Time{}, record);
    const auto words = record.span();
    result.emplace_back(words.begin(), words.end());
  }
  return result;
}

// Tells two managers the same facts and checks that their commands are equal. settle() answers each Vacate and Dismiss.
struct Twins {
  explicit Twins(const ManagerOptions& options) : whole(options), sliced(options) {}

  void tell(const Fact& fact) {
    const auto commands = whole.tell(fact);
    REQUIRE(bytes_of(sliced.tell(fact)) == bytes_of(commands));
    for (const Vacate& v : only<Vacate>(commands)) owed.push_back(Vacated{Time{}, v.task, v.core});
    for (const Dismiss& d : only<Dismiss>(commands)) owed.push_back(Vacated{Time{}, d.task, d.core});
    for (const Admit& admit : only<Admit>(commands)) tasks.push_back(admit.task);
    postponed += only<Postpone>(commands).size();
    refused += only<Refuse>(commands).size();
  }
  void settle() {
    while (!owed.empty()) {
      const Fact fact = owed.front();
      owed.erase(owed.begin());
      tell(fact);
    }
  }

  Bench whole, sliced;
  std::vector<Fact> owed;
  std::vector<TaskId> tasks;
  std::size_t postponed = 0, refused = 0;
};

// Three cores of 95 %, which hold 40 + 30 %, 40 + 30 % and 40 %. A task of 60 % needs moves.
struct Crowded {
  Bench b{cores_of(3)};
  std::vector<TaskId> tasks;
  Crowded() {
    for (const int percent : {40, 40, 40, 30, 30}) tasks.push_back(b.admitted(share_of_core(percent)));
  }
};

// Proposes random tasks to both. One of them prepares each task in pieces.
void propose_to_both(Twins& twins, std::mt19937_64& random, int evaluations) {
  for (std::uint64_t i = 1; i <= 40; ++i) {
    const Contract contract = random_contract(random);
    prepare(twins.sliced.manager, contract, evaluations);
    twins.tell(Proposed{Time{}, JobId{i}, PeerId{}, contract});
    if (random() % 2 == 0) twins.settle();
    if (random() % 4 == 0 && !twins.tasks.empty())
      twins.tell(Departed{Time{}, twins.tasks[random() % twins.tasks.size()]});
  }
}

}  // namespace

TEST_CASE("a new task that was prepared in pieces is decided as in one go by every allocation strategy") {
  const int evaluations = GENERATE(1, 3, 50);
  std::size_t postponed = 0;
  std::size_t refused = 0;
  ManagerOptions options = cores_of(3);
  for (const AllocationStrategy* const strategy : allocation_strategies()) {
    options.allocation = strategy;
    for (std::uint64_t seed = 0; seed < 15; ++seed) {
      std::mt19937_64 random(seed);
      Twins twins(options);
      propose_to_both(twins, random, evaluations);
      postponed += twins.postponed;
      refused += twins.refused;
    }
  }
  CHECK(postponed > 10);
  CHECK(refused > 50);
}

TEST_CASE("a piece ends when its evaluations are used up") {
  const auto pieces = [](int evaluations) {
    Crowded c;
    return prepare(c.b.manager, share_of_core(60), evaluations);
  };
  CHECK(pieces(1) > 30);
  CHECK(pieces(10) < pieces(1) / 4);
  CHECK(pieces(10) > 1);
  CHECK(pieces(1'000'000) == 1);
}

TEST_CASE("a prepared new task costs no analysis when it is decided") {
  Crowded c;
  prepare(c.b.manager, share_of_core(60), 1);
  CHECK(c.b.manager.continue_preparing(0));
  CHECK(only<Postpone>(c.b.propose(share_of_core(60))).size() == 1);
}

TEST_CASE("a change of the tables makes a preparation start over") {
  Crowded c;
  const Contract candidate = share_of_core(60);
  prepare(c.b.manager, candidate, 1);
  SECTION("a task that leaves") { c.b.tell(Departed{Time{}, c.tasks.back()}); }
  SECTION("another task that is admitted") { c.b.admitted(share_of_core(1)); }
  SECTION("another task that is refused") { c.b.refused(share_of_core(94)); }
  SECTION("a core that is lost") { c.b.tell(CoreLost{Time{}, CoreId{2}}); }
  SECTION("another process's load") {
    const PlatformLoad load{.budget = 1ms, .period = 100ms};
    c.b.manager.set_interference(CoreId{0}, {&load, 1});
  }
  SECTION("a core that is closed") { c.b.manager.set_closed(CoreId{0}, true); }
  SECTION("a smaller capacity") { c.b.manager.set_capacity(CoreId{1}, 900'000); }
  SECTION("moving is forbidden") { c.b.manager.set_repack(false); }
  CHECK_FALSE(c.b.manager.continue_preparing(0));
  while (!c.b.manager.continue_preparing(1)) continue;
}

TEST_CASE("an event that changes no table leaves a preparation as it is") {
  Crowded c;
  prepare(c.b.manager, share_of_core(60), 1);
  c.b.tell(Arrived{Time{}, JobId{1000}, c.tasks[0], PeerId{}, std::nullopt});
  c.b.tell(Departed{Time{}, TaskId{4711}});
  c.b.manager.set_interference(CoreId{0}, {});
  c.b.manager.set_closed(CoreId{0}, false);
  CHECK(c.b.manager.continue_preparing(0));
}

TEST_CASE("a task that was not prepared is analyzed when it is decided") {
  Crowded c;
  prepare(c.b.manager, share_of_core(90), 1);
  CHECK(only<Admit>(c.b.propose(share_of_core(20))).size() == 1);
}

TEST_CASE("a bound that a departure left too large becomes exact in pieces") {
  Bench b(cores_of(1));
  const TaskId leaves = b.admitted(share_of_core(80));
  const TaskId stays = b.admitted({.period = 200ms, .deadline = 200ms, .budget = 10ms});
  b.tell(Departed{Time{}, leaves});
  REQUIRE(only<Postpone>(b.propose({.period = 400ms, .deadline = 400ms, .budget = 200ms})).size() == 1);
  REQUIRE(only<Admit>(b.vacated(leaves, CoreId{0})).size() == 1);
  CHECK(b.manager.find(stays)->response == 90ms);
  CHECK_FALSE(b.manager.refresh_bounds(0));
  while (!b.manager.refresh_bounds(1)) continue;
  CHECK(b.manager.find(stays)->response == 10ms);
  CHECK(b.manager.refresh_bounds(0));
}
