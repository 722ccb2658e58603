// Tests what every allocation strategy must do, and the packings of those that are as old as bin packing.
#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/orb/sched/allocation/packing_fixture.h"

namespace strategies_test {

using namespace corelane;
using namespace corelane::sched;
using namespace corelane::sched::testing;

namespace {

std::vector<SpareCapacity> random_spare(std::mt19937_64& random) {
  std::vector<SpareCapacity> spare;
  const int count = 2 + static_cast<int>(random() % 5);
  const int last = static_cast<int>(random() % static_cast<std::uint64_t>(count));
  for (int i = 0; i < count; ++i)
    spare.push_back({.core = i,
                     .free = static_cast<Share>(random() % 4) - 1,
                     .steps = steps_between(last, i, count),
                     .cache_load = static_cast<Share>(random() % 3),
                     .beside = static_cast<Share>(random() % 2)});
  return spare;
}

// Returns what is wrong with the order of three cores, or an empty text.
std::string fault_of_order(const AllocationStrategy& strategy, const SpareCapacity& a, const SpareCapacity& b,
                           const SpareCapacity& c) {
  const auto before = strategy.before;
  const auto equal = [&](const SpareCapacity& x, const SpareCapacity& y) { return !before(x, y) && !before(y, x); };
  if (before(a, a)) return "a core comes before itself";
  if (before(a, b) && before(b, a)) return "two cores come before each other";
  if (before(a, b) && before(b, c) && !before(a, c)) return "the order is not transitive";
  if (equal(a, b) && equal(b, c) && !equal(a, c)) return "equality is not transitive";
  return {};
}

// A manager with one strategy on four cores with two caches, and what its tasks use of each core.
class Filled {
 public:
  explicit Filled(const AllocationStrategy& strategy)
      : strategy_(strategy), bench_(options_of(strategy)), free_(4, 100), intensive_(4, 0), last_(0) {}

  // Proposes a task that needs so many percent of a core. Returns whether it was admitted.
  bool propose(int percent, bool is_intensive) {
    Contract contract = share_of_core(percent);
    contract.intensity = is_intensive ? intensive_from : std::uint16_t{0};
    const auto admits = only<Admit>(bench_.propose(contract));
    if (admits.empty()) return false;
    last_ = static_cast<int>(admits[0].core.value);
    free_[static_cast<std::size_t>(last_)] -= percent;
    if (is_intensive) intensive_[static_cast<std::size_t>(last_)] += percent;
    return true;
  }
  // Returns the first core of the strategy's order on which the task fits; -1 if it fits on none.
  int expected(int percent, bool is_intensive) const {
    std::vector<SpareCapacity> spare;
    for (int i = 0; i < 4; ++i) {
      const auto core = static_cast<std::size_t>(i), sharing = core ^ 1;  // cores 0 and 1, 2 and 3
      if (free_[core] < percent) continue;
      spare.push_back(
          {.core = i, .free = free_[core] * (whole_share / 100), .steps = i >= last_ ? i - last_ : i - last_ + 4});
      if (!is_intensive || !strategy_.regards_caches) continue;
      spare.back().cache_load = (intensive_[core] + intensive_[sharing]) * (whole_share / 100);
      spare.back().beside = intensive_[sharing] * (whole_share / 100);
    }
    const auto first = std::min_element(spare.begin(), spare.end(), strategy_.before);
    return first == spare.end() ? -1 : first->core;
  }
  int last() const { return last_; }

 private:
  static ManagerOptions options_of(const AllocationStrategy& strategy) {
    ManagerOptions options = whole_cores(4, strategy.name);
    for (int i = 0; i < 4; ++i) options.cores[static_cast<std::size_t>(i)].cache = i / 2;
    return options;
  }

  const AllocationStrategy& strategy_;
  Bench bench_;
  std::vector<int> free_;       // percent
  std::vector<int> intensive_;  // percent
  int last_;
};

}  // namespace

TEST_CASE("allocation strategies have different names that a setting can hold") {
  std::vector<std::string> names;
  for (const AllocationStrategy* const entry : allocation_strategies()) {
    INFO(entry->name);
    CHECK(entry->name.find_first_not_of("abcdefghijklmnopqrstuvwxyz-") == entry->name.npos);
    CHECK_FALSE(entry->name.empty());
    CHECK_FALSE(entry->help.empty());
    CHECK_FALSE(entry->help.ends_with('.'));
    CHECK(std::count(names.begin(), names.end(), entry->name) == 0);
    names.emplace_back(entry->name);
  }
  CHECK(default_allocation_strategy()->name == "worst-fit");
}

TEST_CASE("an allocation strategy is a strict weak order of cores") {
  for (const AllocationStrategy* const entry : allocation_strategies()) {
    std::mt19937_64 random(1);
    std::string fault;
    for (int set = 0; set < 200 && fault.empty(); ++set) {
      const std::vector<SpareCapacity> spare = random_spare(random);
      for (const SpareCapacity& a : spare)
        for (const SpareCapacity& b : spare)
          for (const SpareCapacity& c : spare)
            if (fault.empty()) fault = fault_of_order(*entry, a, b, c);
    }
    INFO(entry->name);
    CHECK(fault.empty());
  }
}

TEST_CASE("of two cores one comes before the other, and the lower index decides if the strategy does not") {
  for (const AllocationStrategy* const entry : allocation_strategies()) {
    std::mt19937_64 random(2);
    std::size_t wrong = 0;
    for (int set = 0; set < 200; ++set) {
      const std::vector<SpareCapacity> capacities = random_spare(random);
      for (const SpareCapacity& a : capacities)
        for (const SpareCapacity& b : capacities) {
          const bool is_open = !entry->before(a, b) && !entry->before(b, a);
          wrong += comes_before(*entry, a, b) != (is_open ? a.core < b.core : entry->before(a, b));
        }
    }
    INFO(entry->name);
    CHECK(wrong == 0);
  }
}

TEST_CASE("the first core comes after the last one") {
  CHECK(steps_between(1, 1, 4) == 0);
  CHECK(steps_between(1, 3, 4) == 2);
  CHECK(steps_between(3, 0, 4) == 1);
  CHECK(steps_between(3, 2, 4) == 3);
}

TEST_CASE("a task goes to the first core of the strategy's order that passes and is refused only if none does") {
  for (const AllocationStrategy* const entry : allocation_strategies()) {
    std::size_t wrong = 0, refused = 0;
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
      std::mt19937_64 random(seed);
      Filled filled(*entry);
      for (int i = 0; i < 30; ++i) {
        const int percent = 1 + static_cast<int>(random() % 50);
        const bool is_intensive = random() % 2 == 0;
        const int expected = filled.expected(percent, is_intensive);
        const bool admitted = filled.propose(percent, is_intensive);
        refused += admitted ? 0 : 1;
        wrong += admitted != (expected >= 0) || (admitted && filled.last() != expected) ? 1 : 0;
      }
    }
    INFO(entry->name);
    CHECK(wrong == 0);
    CHECK(refused > 100);
  }
}

TEST_CASE("the old strategies pack the published items as published") {
  CHECK(packed("first-fit", published_items, 7) == Bins{{8, 2}, {5, 4, 1}, {7}, {6}});
  CHECK(packed("best-fit", published_items, 7) == Bins{{8, 2}, {5}, {7, 1}, {6, 4}});
  CHECK(packed("worst-fit", published_items, 4) == Bins{{8}, {5, 2, 1}, {7}, {6, 4}});
}

TEST_CASE("a repacking uses the chosen strategy") {
  // The last task fits only after a repacking. If the largest task comes first, first fit and best fit make room:
  // 59 + 39 and 49 + 29 + 19. Worst fit puts 59 + 29 and 49 + 39 together, which leaves no room for 19.
  const auto answers = [](std::string_view name) {
    ManagerOptions options = whole_cores(2, name);
    options.repack = true;
    Bench bench(options);
    for (const int percent : {19, 29, 39, 49}) bench.admitted(share_of_core(percent));
    const auto commands = bench.propose(share_of_core(59));
    return std::pair(only<Postpone>(commands).size(), only<Refuse>(commands).size());
  };
  CHECK(answers("first-fit") == std::pair<std::size_t, std::size_t>(1, 0));
  CHECK(answers("best-fit") == std::pair<std::size_t, std::size_t>(1, 0));
  CHECK(answers("worst-fit") == std::pair<std::size_t, std::size_t>(0, 1));
}

}  // namespace strategies_test
