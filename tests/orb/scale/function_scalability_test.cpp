// Tests which functions are named as those that do not scale.
#include "orb/scale/function_scalability.h"

#include <catch2/catch.hpp>
#include <vector>

using namespace corelane::scale;

namespace function_scalability_test {

TEST_CASE("the scalability value of a function is its additional time on many cores") {
  const std::vector<FunctionTime> one{{"a", 10}, {"b", 15}, {"c", 20}, {"d", 25}};
  const std::vector<FunctionTime> many{{"a", 10}, {"b", 20}, {"c", 30}, {"d", 40}};
  const auto result = function_scalability(one, many);
  REQUIRE(result.size() == 4);
  const std::vector<const char*> names{"d", "c", "b", "a"};
  const std::vector<double> values{15, 10, 5, 0};
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(result[i].function == names[i]);
    CHECK(result[i].value == values[i]);
    CHECK(result[i].weight == Approx(values[i] / 30));
  }
  CHECK(result[0].one == 25);
  CHECK(result[0].many == 40);
}

TEST_CASE("a function that only one run has took no time in the other") {
  const auto result =
      function_scalability(std::vector<FunctionTime>{{"old", 3}}, std::vector<FunctionTime>{{"new", 4}});
  REQUIRE(result.size() == 2);
  CHECK(result[0].function == "new");
  CHECK(result[0].value == 4);
  CHECK(result[0].weight == 1);
  CHECK(result[1].function == "old");
  CHECK(result[1].value == -3);
  CHECK(result[1].weight == 0);
}

TEST_CASE("times of one function are added up, and equal values are in the order of names") {
  const std::vector<FunctionTime> many{{"b", 1}, {"a", 2}, {"b", 1}};
  const auto result = function_scalability({}, many);
  REQUIRE(result.size() == 2);
  CHECK(result[0].function == "a");
  CHECK(result[1].many == 2);
}

TEST_CASE("without functions there is nothing to show") { CHECK(function_scalability({}, {}).empty()); }

}  // namespace function_scalability_test
