#include "examples/pendulum/plant.h"

#include <catch2/catch.hpp>

using namespace corelane;
using namespace corelane::pendulum;
using namespace std::chrono_literals;

namespace {

// Balances for ten seconds with a force that arrives `delay` late, as from a remote controller.
bool stands_under(Duration period, Duration delay, double length, Profile profile, std::uint64_t seed) {
  Plant plant(length, seed);
  double force = 0;
  for (Duration t{}; t < 10s; t += period) {
    const double next = balance(plant.posture(), plant.length(), profile);
    plant.advance(delay, force);
    force = next;
    plant.advance(period - delay, force);
  }
  return plant.stands();
}

}  // namespace

TEST_CASE("a pendulum left alone falls") {
  Plant plant(1.0, GENERATE(1u, 2u, 3u));
  plant.advance(10s, 0);
  CHECK_FALSE(plant.stands());
  CHECK(plant.worst_angle() >= fallen_angle);
}

TEST_CASE("every pendulum of the demo stands while each reply arrives by its deadline") {
  const auto [period, length] = GENERATE(table<Duration, double>({{10ms, 0.4}, {20ms, 0.8}, {40ms, 1.6}}));
  const auto profile = GENERATE(Profile::calm, Profile::brisk);
  const auto seed = GENERATE(range(1u, 21u));
  CHECK(stands_under(period, Duration{}, length, profile, seed));
  CHECK(stands_under(period, period, length, profile, seed));
}

TEST_CASE("replies that come half a second late let it fall") {
  CHECK_FALSE(stands_under(500ms, 500ms, GENERATE(0.4, 0.8, 1.6), Profile::brisk, 7));
}

TEST_CASE("the same seed gives the same weather") {
  Plant a(1.0, 42), b(1.0, 42), c(1.0, 43);
  for (Plant* plant : {&a, &b, &c}) plant->advance(200ms, 0);
  CHECK(a.posture().angle == b.posture().angle);
  CHECK(a.posture().angle != c.posture().angle);
}

// Edge cases.

TEST_CASE("a fallen pendulum stays down whatever the force") {
  Plant plant(1.0, 1);
  plant.advance(10s, 0);
  const double angle = plant.posture().angle;
  plant.advance(1s, 50);
  CHECK(plant.posture().angle == angle);
}

TEST_CASE("no time passes in a step of zero") {
  Plant plant(1.0, 1);
  plant.advance(0ns, 10);
  CHECK(plant.posture().angle == 0);
}

TEST_CASE("the drive has a limit") {
  CHECK(balance({.angle = 0.5, .rate = 100}, 1.6, Profile::brisk) == 60.0);
  CHECK(balance({.angle = -0.5, .rate = -100}, 1.6, Profile::brisk) == -60.0);
}
