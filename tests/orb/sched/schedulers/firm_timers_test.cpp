#include "orb/sched/schedulers/firm_timers.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <vector>

namespace firm_timers_test {

using namespace corelane;
using namespace corelane::sched;
using namespace std::chrono_literals;

namespace {

constexpr Time at(Duration since_start) { return Time{since_start}; }
using Fired = std::vector<FirmTimer>;
Fired check(FirmTimers& timers, Duration now) {
  const auto expired = timers.soft_check(at(now));
  return {expired.begin(), expired.end()};
}

// What play() observed.
struct Outcome {
  int interrupts = 0;  // by the hard timer
  int fired = 0;
  Duration latest{};  // the longest delay
};
// Runs two periodic timers for 35 ms. Each is set anew when it has fired. A soft check comes after every `every`; if
// that is zero, there are none.
Outcome play(Duration overshoot, Duration every) {
  constexpr Duration periods[] = {5ms, 7ms};
  FirmTimers timers(2, overshoot);
  Outcome outcome;
  for (std::uint64_t i = 0; i < 2; ++i) timers.add(TimerId{i}, at(periods[i]));
  for (Duration now{}; now <= 35ms; now += 100us) {
    const bool interrupt = timers.next_hard() <= at(now);
    const bool check = every > 0us && now % every == 0us;
    if (!interrupt && !check) continue;
    outcome.interrupts += interrupt;
    for (const FirmTimer& timer : timers.soft_check(at(now))) {
      ++outcome.fired;
      outcome.latest = std::max(outcome.latest, at(now) - timer.at);
      timers.add(timer.id, timer.at + periods[timer.id.value]);
    }
  }
  return outcome;
}

}  // namespace

TEST_CASE("periods of 5 and 7 ms take 11 one-shots in 35 ms where a tick of 1 ms takes 35") {
  const Outcome hard = play(0us, 0us);
  CHECK(hard.interrupts == 11);
  CHECK(hard.fired == 12);  // both fire at 35 ms
  CHECK(hard.latest == 0us);
}

TEST_CASE("soft checks within the overshoot save every interrupt, and the overshoot bounds the delay") {
  const Outcome firm = play(500us, 300us);
  CHECK(firm.interrupts == 0);
  CHECK(firm.fired == 10);  // the last check is at 34.8 ms
  CHECK(firm.latest <= 300us);
  const Outcome without_checks = play(500us, 0us);
  CHECK(without_checks.latest == 500us);
  CHECK(without_checks.interrupts == 10);  // the two due at 35 ms have not fired by the end
}

TEST_CASE("the hard timer is armed at the earliest expiry and the overshoot") {
  FirmTimers timers(4, 50us);
  CHECK(timers.next_hard() == never);
  timers.add(TimerId{2}, at(3ms));
  timers.add(TimerId{0}, at(1ms));
  CHECK(timers.next_hard() == at(1050us));
  timers.cancel(TimerId{0});
  CHECK(timers.next_hard() == at(3050us));
}

TEST_CASE("a soft check fires all that has expired in the order of their instants") {
  FirmTimers timers(4, 50us);
  timers.add(TimerId{3}, at(2ms));
  timers.add(TimerId{1}, at(2ms));
  timers.add(TimerId{0}, at(4ms));
  timers.add(TimerId{2}, at(1ms));
  CHECK(check(timers, 999us).empty());
  CHECK(check(timers, 2ms) == Fired{{TimerId{2}, at(1ms)}, {TimerId{1}, at(2ms)}, {TimerId{3}, at(2ms)}});
  CHECK(check(timers, 3ms).empty());
  CHECK(timers.size() == 1);
  CHECK(timers.checks() == 3);
  CHECK(timers.hits() == 1);
}

TEST_CASE("a timer set again moves") {
  FirmTimers timers(4, 0us);
  timers.add(TimerId{0}, at(5ms));
  timers.add(TimerId{1}, at(6ms));
  timers.add(TimerId{0}, at(7ms));
  CHECK(timers.size() == 2);
  CHECK(check(timers, 6ms) == Fired{{TimerId{1}, at(6ms)}});
  timers.add(TimerId{0}, at(6500us));
  CHECK(check(timers, 6500us).size() == 1);
}

// Edges and error paths.

TEST_CASE("an id past the capacity is refused and an unset one is not cancelled") {
  FirmTimers timers(2, 0us);
  CHECK(timers.add(TimerId{1}, at(1ms)));
  CHECK_FALSE(timers.add(TimerId{2}, at(1ms)));
  CHECK_FALSE(timers.cancel(TimerId{0}));
  CHECK_FALSE(timers.cancel(TimerId{9}));
  CHECK(timers.cancel(TimerId{1}));
  CHECK_FALSE(timers.is_set(TimerId{1}));
}

TEST_CASE("a timer that never fires arms nothing") {
  FirmTimers timers(1, 50us);
  timers.add(TimerId{0}, never);
  CHECK(timers.next_hard() == never);
}

// Law.

TEST_CASE("firm timers fire what a sorted list would") {
  std::mt19937_64 random(3);
  FirmTimers timers(40, 10us);
  std::map<std::uint64_t, Time> expected;
  Time now{};
  for (int step = 0; step < 20'000; ++step) {
    const TimerId id{random() % 40};
    const Time when = now + Duration{static_cast<std::int64_t>(random() % 400)};
    switch (random() % 4) {
      case 0:
        CHECK(timers.cancel(id) == (expected.erase(id.value) == 1));
        break;
      case 1: {
        now += Duration{static_cast<std::int64_t>(random() % 60)};
        Fired due;
        for (const auto& [key, instant] : expected)
          if (instant <= now) due.push_back({TimerId{key}, instant});
        std::stable_sort(due.begin(), due.end(), [](const FirmTimer& a, const FirmTimer& b) { return a.at < b.at; });
        std::erase_if(expected, [&](const auto& timer) { return timer.second <= now; });
        REQUIRE(check(timers, now.time_since_epoch()) == due);
        break;
      }
      default:
        REQUIRE(timers.add(id, when));
        expected[id.value] = when;
    }
    REQUIRE(timers.size() == expected.size());
    Time first = never;
    for (const auto& timer : expected) first = std::min(first, timer.second);
    REQUIRE(timers.next_hard() == (first == never ? never : first + 10us));
  }
}

}  // namespace firm_timers_test
