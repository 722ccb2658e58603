// Tests the orders in which known tasks ask for admission.
#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "orb/sched/task_order.h"
#include "tests/orb/sched/allocation/packing_fixture.h"

namespace task_orders_test {

using namespace corelane;
using namespace corelane::sched;
using namespace corelane::sched::testing;
using namespace std::chrono_literals;

namespace {

const TaskOrder& order(std::string_view name) {
  const TaskOrder* const found = find_named(task_orders(), name);
  REQUIRE(found != nullptr);
  return *found;
}

// Returns the periods, in milliseconds, of tasks in that order.
std::vector<int> sorted(std::string_view name) {
  std::vector<Contract> contracts{
      {.period = 30ms, .deadline = 30ms, .budget = 6ms},   // utilization .2
      {.period = 10ms, .deadline = 20ms, .budget = 2ms},   // the same, and comes later
      {.period = 20ms, .deadline = 10ms, .budget = 3ms},   // utilization .15, density .3
      {.period = 40ms, .deadline = 40ms, .budget = 10ms},  // utilization .25
  };
  std::ranges::stable_sort(contracts, order(name).before);
  std::vector<int> periods;
  for (const Contract& contract : contracts) periods.push_back(static_cast<int>(contract.period / 1ms));
  return periods;
}

std::vector<int> decreasing(std::vector<int> items) {
  std::ranges::stable_sort(items, [](int a, int b) {
    return order("decreasing-utilization").before(share_of_core(10 * a), share_of_core(10 * b));
  });
  return items;
}

}  // namespace

TEST_CASE("orders of tasks have different names, and a server has the order of arrival alone") {
  std::vector<std::string> names;
  for (const TaskOrder* const entry : task_orders()) {
    INFO(entry->name);
    CHECK(entry->name.find_first_not_of("abcdefghijklmnopqrstuvwxyz-") == entry->name.npos);
    CHECK_FALSE(entry->help.empty());
    CHECK_FALSE(entry->help.ends_with('.'));
    CHECK(std::count(names.begin(), names.end(), entry->name) == 0);
    CHECK(entry->usable_in.server == (entry->name == "arrival"));
    names.emplace_back(entry->name);
  }
}

TEST_CASE("each order sorts by its key and keeps the order of arrival where the key is equal") {
  CHECK(sorted("arrival") == std::vector<int>{30, 10, 20, 40});
  CHECK(sorted("decreasing-utilization") == std::vector<int>{40, 30, 10, 20});
  CHECK(sorted("decreasing-density") == std::vector<int>{20, 40, 30, 10});
  CHECK(sorted("increasing-period") == std::vector<int>{10, 20, 30, 40});
}

TEST_CASE("an order of tasks is a strict weak order") {
  std::mt19937_64 random(1);
  std::vector<Contract> contracts;
  for (int i = 0; i < 40; ++i) {
    const Duration period = 1ms * static_cast<int>(1 + random() % 4);
    contracts.push_back({.period = period,
                         .deadline = period * static_cast<int>(1 + random() % 3) / 2,
                         .budget = period * static_cast<int>(1 + random() % 4) / 8});
  }
  std::size_t wrong = 0;
  for (const TaskOrder* const entry : task_orders())
    for (const Contract& a : contracts)
      for (const Contract& b : contracts)
        for (const Contract& c : contracts) {
          const auto before = entry->before;
          const bool equal_ab = !before(a, b) && !before(b, a), equal_bc = !before(b, c) && !before(c, b);
          if (before(a, a) || (before(a, b) && before(b, c) && !before(a, c))) ++wrong;
          if (equal_ab && equal_bc && (before(a, c) || before(c, a))) ++wrong;
        }
  CHECK(wrong == 0);
}

TEST_CASE("the published items are packed in decreasing order as bin packing says") {
  const std::vector<int> items = decreasing(published_items);
  CHECK(items == std::vector<int>{8, 7, 6, 5, 4, 2, 1});
  CHECK(packed("first-fit", items, 7) == Bins{{8, 2}, {7, 1}, {6, 4}, {5}});
  CHECK(packed("best-fit", items, 7) == Bins{{8, 2}, {7, 1}, {6, 4}, {5}});
  CHECK(packed("worst-fit", items, 4) == Bins{{8}, {7, 1}, {6, 2}, {5, 4}});
  CHECK(packed("next-fit", items, 7) == Bins{{8}, {7}, {6}, {5, 4}, {2, 1}});
}

}  // namespace task_orders_test
