#include "orb/sched/server_driver.h"

#include <catch2/catch.hpp>

using namespace corelane;
using namespace corelane::sched;
using namespace std::chrono_literals;

namespace {

constexpr Time at(Duration since_start) { return Time{since_start}; }
constexpr Reservation reservation{2ms, 10ms};
constexpr IoCaller anybody{};

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
