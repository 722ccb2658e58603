// The budget of a spinner, in exact numbers.
#include "orb/os/adaptive_spin.h"

#include <catch2/catch.hpp>
#include <chrono>

using namespace corelane;
using namespace corelane::os;
using namespace std::chrono_literals;

namespace {

constexpr Duration wake = 32us, most = 50us;

struct Waiter {
  Waiter& waited(Duration gap, int times = 1) {
    for (int i = 0; i < times; ++i) spin.waited(gap, wake);
    return *this;
  }
  Duration budget() const { return spin.budget(wake, most); }

  AdaptiveSpin spin;
};

}  // namespace

TEST_CASE("without experience a waiter spins as long as a wake-up costs") {
  CHECK(AdaptiveSpin().budget(32us, 50us) == 32us);
  CHECK(AdaptiveSpin().budget(32us, 10us) == 10us);
  CHECK(AdaptiveSpin().budget(32us, 0us) == 0us);
}

TEST_CASE("the first gap is the mean and half of it the deviation") {
  CHECK(Waiter().waited(4us).budget() == 12us);   // 4 + 4 x 2
  CHECK(Waiter().waited(8us).budget() == 24us);   // 8 + 4 x 4
  CHECK(Waiter().waited(16us).budget() == 32us);  // 16 + 4 x 8, bounded by the wake-up
}

TEST_CASE("equal gaps bring the budget down to the gap itself") {
  Waiter waiter;
  waiter.waited(8us).waited(8us);
  CHECK(waiter.budget() == 20us);  // deviation 4 us - 4/4
  waiter.waited(8us);
  CHECK(waiter.budget() == 17us);  // 3 - 3/4 = 2.25 us
  waiter.waited(8us, 100);
  CHECK(waiter.budget() >= 8us);
  CHECK(waiter.budget() < 8100ns);
}

TEST_CASE("a waiter whose event takes longer than a wake-up sleeps at once") {
  CHECK(Waiter().waited(32us).budget() == 32us);
  CHECK(Waiter().waited(32us + 1ns).budget() == 0us);
  CHECK(Waiter().waited(10ms, 5).budget() == 0us);
}

TEST_CASE("a budget never exceeds what a wake-up costs nor what was asked for") {
  for (const Duration gap : {1us, 10us, 20us, 31us}) {
    const AdaptiveSpin spin = Waiter().waited(gap, 3).spin;
    CHECK(spin.budget(wake, most) <= wake);
    CHECK(spin.budget(wake, 5us) <= 5us);
  }
}

TEST_CASE("a long pause counts as four wake-ups and thirteen short gaps make up for many") {
  Waiter waiter;
  waiter.waited(8us, 50).waited(1h);
  CHECK(waiter.budget() == 32us);  // one pause: mean 8 + 120/8 = 23 us, still worth a spin
  waiter.waited(1h, 50);
  CHECK(waiter.budget() == 0us);
  int gaps = 0;
  while (waiter.budget() == 0us) waiter.waited(8us), ++gaps;
  CHECK(gaps == 13);
}

TEST_CASE("a gap that seems negative is none") { CHECK(Waiter().waited(-5us).budget() == 0us); }
