// Tests how long a waiter spins, in exact numbers.
#include "orb/os/wait/adaptive_spin.h"

#include <algorithm>
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

TEST_CASE("a waiter whose event takes little longer than a wake-up tries to spin now and then and others never do") {
  Waiter near, far;
  int trials = 0;
  for (int i = 0; i < 2560; ++i) {
    near.waited(40us), far.waited(100us);
    trials += near.budget() == most ? 1 : 0;
    CHECK((near.budget() == most || near.budget() == 0us));
    CHECK(far.budget() == 0us);
  }
  CHECK(trials == 160);
}

namespace {

// Two waiters that answer each other, on a machine where a wake-up takes longer than was measured.
class Couple {
 public:
  Duration round_trip() {
    const Duration before = ends_[0].now;
    for (int side : {0, 1}) hear(ends_[1 - side], ends_[side].now += 300ns);
    return ends_[0].now - before;
  }
  void learn(Duration gap) {
    for (End& end : ends_) end.waiter.waited(gap, 50);
  }

 private:
  struct End {
    Waiter waiter;
    Duration now{};
  };
  // Delivers a message that was sent at that time to an end that has waited since it sent its own last message.
  static void hear(End& end, Duration sent) {
    const Duration spins_until = end.now + end.waiter.budget();
    const bool slept = sent > spins_until;
    const Duration heard = slept ? std::max(sent, spins_until) + 40us : std::max(sent, end.now);
    end.waiter.waited(heard - end.now - (slept ? wake : 0us));
    end.now = heard;
  }
  End ends_[2];
};

}  // namespace

TEST_CASE("two that sleep because the other sleeps find out that neither need") {
  Couple couple;
  couple.learn(60us);
  CHECK(couple.round_trip() > 80us);
  for (int i = 0; i < 300; ++i) couple.round_trip();
  CHECK(couple.round_trip() < 1us);
}

TEST_CASE("a gap that seems negative is none") { CHECK(Waiter().waited(-5us).budget() == 0us); }

TEST_CASE("a waiter knows by its last yield whether it shares its core") {
  AdaptiveSpin spin;
  CHECK_FALSE(spin.shares_core());
  spin.yielded(5us);
  CHECK(spin.shares_core());
  spin.yielded(300ns);
  CHECK_FALSE(spin.shares_core());
}
