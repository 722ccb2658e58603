#include "services/corelane/reproductions/replenishment.h"

#include <catch2/catch.hpp>

namespace replenishment_test {

using namespace corelane::tool;
using namespace corelane::tool::reproductions;

TEST_CASE("by POSIX' rule a server of 20 in 50 runs for 27 in a period, by the corrected rule for 22") {
  CHECK(units_by_posix_rule(51, 101) == 27);
  CHECK(units_by_corrected_rule(51, 101) == 22);
}

TEST_CASE("before the second burst both rules give the same") {
  CHECK(units_by_posix_rule(0, 51) == 19);
  CHECK(units_by_corrected_rule(0, 51) == 19);
}

TEST_CASE("a window that begins with the second burst may hold more than a budget by the corrected rule, too") {
  CHECK(units_by_corrected_rule(18, 68) == 28);
}

TEST_CASE("what a host gives is confirmed only within one unit of the corrected rule") {
  for (const char* near : {"21.00", "21.91", "23.00"}) CHECK(replenishment_real.holds({{near}}));
  for (const char* far : {"0.00", "20.99", "23.01", "27.00"}) CHECK_FALSE(replenishment_real.holds({{far}}));
}

}  // namespace replenishment_test
