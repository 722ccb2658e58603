// Tests the search for a minimum.
#include "orb/scale/minimize.h"

#include <catch2/catch.hpp>
#include <cmath>

using namespace corelane::scale;

namespace minimize_test {

TEST_CASE("a search finds the bottom of a parabola of one variable") {
  const auto cost = [](const Vector& at) { return (at[0] - 3) * (at[0] - 3); };
  CHECK(minimize(cost, {-10}, 1)[0] == Approx(3).margin(1e-6));
}

TEST_CASE("a search follows the curved valley of Rosenbrock's function") {
  const auto cost = [](const Vector& at) { return 100 * std::pow(at[1] - at[0] * at[0], 2) + std::pow(1 - at[0], 2); };
  const Vector found = minimize(cost, {-1.2, 1}, .5);
  CHECK(found[0] == Approx(1).margin(1e-5));
  CHECK(found[1] == Approx(1).margin(1e-5));
}

TEST_CASE("a search avoids where the cost is no number") {
  const auto cost = [](const Vector& at) { return at[0] - std::log(at[0]); };  // defined above 0 alone
  CHECK(minimize(cost, {.1}, -.2)[0] == Approx(1).margin(1e-6));
}

}  // namespace minimize_test
