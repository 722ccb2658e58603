#include "orb/dispatch/recent.h"

#include <catch2/catch.hpp>
#include <vector>

namespace recent_test {

using namespace corelane::dispatch;

namespace {

std::vector<int> values_of(const Recent<int>& recent) {
  std::vector<int> values;
  recent.for_each([&](int value) { values.push_back(value); });
  return values;
}

}  // namespace

TEST_CASE("the newest values are kept, the oldest first") {
  Recent<int> recent(3);
  CHECK(values_of(recent).empty());
  for (int i = 1; i <= 3; ++i) recent.add(i);
  CHECK(values_of(recent) == std::vector<int>{1, 2, 3});
  recent.add(4);
  CHECK(values_of(recent) == std::vector<int>{2, 3, 4});
  CHECK(recent.contains(4));
  CHECK_FALSE(recent.contains(1));
  for (int i = 5; i <= 9; ++i) recent.add(i);
  CHECK(values_of(recent) == std::vector<int>{7, 8, 9});
}

}  // namespace recent_test
