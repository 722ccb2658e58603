#include "orb/sched/servers/server_driver.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <vector>

namespace server_driver_test {

using namespace corelane;
using namespace corelane::sched;
using namespace std::chrono_literals;

namespace {

constexpr Time at(Duration since_start) { return Time{since_start}; }
constexpr Reservation reservation{2ms, 10ms};
constexpr IoCaller anybody{};

// Simulates one server above all tasks, one microsecond at a time. Its work runs or sleeps, and the driver does not see
// which. The driver is stepped at random instants, and when the budget may be used up. Returns the longest time that
// ran in any window of one period.
Duration most_in_a_period(bool observed, std::uint32_t seed) {
  constexpr int units = 4000;
  constexpr Reservation small{6us, 20us};
  std::mt19937 random(seed);
  ServerDriver driver{SporadicServer(small)};
  std::vector<int> ran(units, 0);
  Duration used{};
  ServerVerdict verdict = driver.step(at(0us), used, anybody);
  Time look = at(0us);
  bool awake = true;
  for (int now = 0; now < units; ++now) {
    const Time instant = at(Duration{1us} * now);
    const bool due = verdict.runs ? instant >= look : instant >= verdict.again;
    if (due || random() % 50 == 0) {
      verdict = observed ? driver.step(instant, used, anybody) : driver.step_unobserved(instant, used, anybody);
      used = {};
      look = instant + verdict.budget;
    }
    if (random() % 12 == 0) awake = !awake;
    if (!awake || !verdict.runs) continue;
    ran[static_cast<std::size_t>(now)] = 1;
    used += 1us;
  }
  Duration most{};
  for (std::size_t first = 0; first + 20 <= ran.size(); ++first)
    most = std::max(most, Duration{1us} * std::count(ran.data() + first, ran.data() + first + 20, 1));
  return most;
}

}  // namespace

TEST_CASE("a driver without work answers nothing to do") {
  ServerDriver driver(SporadicServer(reservation), Priority{7});
  CHECK(driver.step(at(1ms), 0ms, std::nullopt) == ServerVerdict{});
}

TEST_CASE("a driver lets work run for the budget and then wait for the next one") {
  ServerDriver driver(SporadicServer(reservation), Priority{7});
  CHECK(driver.step(at(1ms), 0ms, anybody) == ServerVerdict{true, Priority{7}, never, 2ms, never});
  CHECK(driver.step(at(2ms), 500us, anybody) == ServerVerdict{true, Priority{7}, never, 1500us, never});
  CHECK(driver.step(at(4ms), 1500us, anybody) == ServerVerdict{false, Priority{7}, never, 0ms, at(11ms)});
  CHECK(driver.verdict(at(11ms)).runs);
  CHECK(driver.used() == 2ms);
}

TEST_CASE("steps in between change nothing for any server") {
  IoServer io(200'000);
  for (const Server& server : {Server(SporadicServer(reservation)), Server(DeferrableServer(reservation)), Server(io),
                               Server(ConstantBandwidthServer(reservation))}) {
    ServerDriver once(server);
    ServerDriver often(server);
    const IoCaller caller{10ms, Priority{3}};
    for (Duration now{}; now < 60ms; now += 5ms) {
      const bool works = now != 30ms;
      const std::optional<IoCaller> work = works ? std::optional(caller) : std::nullopt;
      const Duration used = once.verdict(at(now)).runs ? 1ms : 0ms;
      const ServerVerdict expected = once.step(at(now + 1ms), used, work);
      for (Duration part{}; part < used; part += 250us) often.step(at(now + part + 250us), 250us, caller);
      often.step(at(now + 1ms), 0ms, work);
      CHECK(often.step(at(now + 1ms), 0ms, work) == expected);
    }
  }
}

TEST_CASE("work that sleeps unseen uses no more than the budget in any window of a period") {
  Duration worst_told_nothing{};
  for (std::uint32_t seed = 1; seed <= 50; ++seed) {
    INFO(seed);
    CHECK(most_in_a_period(false, seed) <= 6us);
    worst_told_nothing = std::max(worst_told_nothing, most_in_a_period(true, seed));
  }
  CHECK(worst_told_nothing > 6us);  // to a plain step(), work that sleeps looks preempted
}

TEST_CASE("time that was used unseen counts as used last") {
  ServerDriver driver{SporadicServer(reservation)};
  driver.step(at(0ms), 0ms, anybody);
  CHECK(driver.step_unobserved(at(7ms), 1ms, anybody).budget == 1ms);  // charged as used in [6, 7)
  CHECK(driver.step_unobserved(at(9ms), 1ms, anybody).again == at(16ms));
  CHECK(driver.verdict(at(16ms)).budget == 1ms);
  CHECK(driver.verdict(at(18ms)).budget == 2ms);
}

TEST_CASE("a driver of an io server takes the caller's priority and starts anew for another") {
  IoServer io(100'000);
  ServerDriver driver(io);
  CHECK(driver.step(at(0ms), 0ms, IoCaller{80ms, Priority{3}}) == ServerVerdict{true, Priority{3}, never, 8ms, never});
  const ServerVerdict other = driver.step(at(2ms), 2ms, IoCaller{40ms, Priority{9}});
  CHECK(other == ServerVerdict{false, Priority{9}, never, 0ms, at(20ms)});
  driver.step(at(3ms), 0ms, std::nullopt);
  CHECK(driver.step(at(30ms), 0ms, IoCaller{40ms, Priority{9}}).budget == 4ms);
}

TEST_CASE("a driver of a constant bandwidth server says under which deadline to run") {
  ServerDriver driver{ConstantBandwidthServer(reservation)};
  CHECK(driver.step(at(3ms), 0ms, anybody).deadline == at(13ms));
  CHECK(driver.step(at(5ms), 2ms, anybody) == ServerVerdict{true, Priority{}, at(23ms), 2ms, never});
}

}  // namespace server_driver_test
