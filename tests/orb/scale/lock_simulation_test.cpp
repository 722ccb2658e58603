// Tests the event simulation of cores and one lock against the exact solution.
#include "orb/scale/lock_simulation.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>

using namespace corelane::scale;

namespace lock_simulation_test {
namespace {

constexpr LockModel collapsing{.outside = 10, .section = .4, .hand_over = .1};

}  // namespace

TEST_CASE("with exponential times the 95 % interval lies within 1 % of the exact solution") {
  const int cores = GENERATE(1, 8, 16, 24, 48);
  const double exact = solve(collapsing, cores).throughput;
  const SimulatedLockPoint simulated = simulate(collapsing, cores, {.sections = 1'200'000});
  CAPTURE(cores, exact, simulated.point.throughput, simulated.half_width);
  CHECK(simulated.half_width > 0);
  CHECK(std::abs(simulated.point.throughput - exact) + simulated.half_width < .01 * exact);
}

TEST_CASE("the simulated waiting share is that of the exact solution") {
  const double exact = solve(collapsing, 24).waiting_share;
  CHECK(simulate(collapsing, 24, {}).point.waiting_share == Approx(exact).epsilon(.02));
}

TEST_CASE("the same seed gives the same result, and another seed another one") {
  const auto run = [](std::uint64_t seed) {
    return simulate(collapsing, 8, {.seed = seed, .sections = 3'000}).point.throughput;
  };
  CHECK(run(1) == run(1));
  CHECK(run(1) != run(2));
}

TEST_CASE("with constant times a lock that all cores can share keeps no core waiting") {
  // 10 cores, each .4 of 10.4: the sections fit one after the other once the cores have spread.
  const SimulatedLockPoint point = simulate({.outside = 10, .section = .4, .hand_over = 0}, 10,
                                            {.times = SectionTimes::constant, .sections = 30'000});
  CHECK(point.point.throughput == Approx(10 / 10.4).epsilon(1e-3));
  CHECK(point.point.waiting_share == Approx(0).margin(1e-6));
}

TEST_CASE("with constant times a saturated lock is always held") {
  const SimulatedLockPoint point = simulate({.outside = 10, .section = .4, .hand_over = 0}, 52,
                                            {.times = SectionTimes::constant, .sections = 30'000});
  CHECK(point.point.throughput == Approx(1 / .4));
  CHECK(point.point.waiting_share == Approx(.5));  // half of 52 cores wait: 26 keep the lock busy
}

}  // namespace lock_simulation_test
