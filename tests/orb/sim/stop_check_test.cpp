#include "orb/sim/stop_check.h"

#include <catch2/catch.hpp>

namespace stop_check_test {

using corelane::sim::StopCheck;

TEST_CASE("a run without a question never ends early") {
  StopCheck check;
  for (std::uint32_t step = 0; step < 3 * StopCheck::interval; ++step) REQUIRE_FALSE(check.is_due());
  CHECK_FALSE(check.stopped());
}

TEST_CASE("the question is asked once in an interval, and no more after the first yes") {
  int asked = 0;
  StopCheck check([&] { return ++asked == 2; });
  for (std::uint32_t step = 1; step < 2 * StopCheck::interval; ++step) REQUIRE_FALSE(check.is_due());
  CHECK(asked == 1);
  CHECK(check.is_due());
  for (std::uint32_t step = 0; step < 2 * StopCheck::interval; ++step) REQUIRE(check.is_due());
  CHECK(asked == 2);
  CHECK(check.stopped());
}

}  // namespace stop_check_test
