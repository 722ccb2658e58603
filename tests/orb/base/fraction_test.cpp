// Tests numbers with six digits behind the point.
#include "orb/base/fraction.h"

#include <catch2/catch.hpp>

namespace fraction_test {

using namespace corelane;

TEST_CASE("a fraction is written without superfluous digits") {
  CHECK(decimal(Fraction{}) == "0");
  CHECK(decimal(unity) == "1");
  CHECK(decimal(Fraction{950'000}) == "0.95");
  CHECK(decimal(Fraction{12'000'001}) == "12.000001");
}

}  // namespace fraction_test
