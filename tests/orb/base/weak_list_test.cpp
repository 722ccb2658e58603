#include "orb/base/weak_list.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <deque>
#include <memory>

using corelane::WeakList;

TEST_CASE("a weak list returns the objects that live") {
  WeakList<int> list;
  const auto first = std::make_shared<int>(1);
  list.add(first);
  list.add(std::make_shared<int>(2));
  const auto third = std::make_shared<int>(3);
  list.add(third);
  auto living = list.living();
  std::sort(living.begin(), living.end(), [](const auto& a, const auto& b) { return *a < *b; });
  CHECK(living == std::vector<std::shared_ptr<int>>{first, third});
}

TEST_CASE("a weak list forgets objects that have ended while others come and go") {
  constexpr std::size_t at_one_time = 100;
  WeakList<int> list;
  std::deque<std::shared_ptr<int>> living;
  std::size_t most = 0;
  for (int i = 0; i < 10'000; ++i) {
    living.push_back(std::make_shared<int>(i));
    list.add(living.back());
    if (living.size() > at_one_time) living.pop_front();
    most = std::max(most, list.entries());
  }
  CHECK(most <= 3 * at_one_time);
  CHECK(list.living().size() == living.size());
}

TEST_CASE("a weak list forgets many objects that ended together as others come") {
  WeakList<int> list;
  std::vector<std::shared_ptr<int>> many;
  for (int i = 0; i < 1000; ++i) list.add(many.emplace_back(std::make_shared<int>(i)));
  many.clear();
  for (int i = 0; i < 1000; ++i) list.add(std::make_shared<int>(i));
  CHECK(list.entries() <= 2);
}
