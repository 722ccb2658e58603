#include "services/corelane/reproductions/timer_interrupts.h"

#include <catch2/catch.hpp>
#include <chrono>

namespace timer_interrupts_test {

using namespace corelane;
using namespace corelane::tool;
using namespace corelane::tool::reproductions;
using namespace std::chrono_literals;

TimerCounts published_timers(Duration overshoot, Duration between_checks) {
  return count_interrupts(
      {.periods = {5ms, 7ms}, .length = 35ms, .overshoot = overshoot, .between_checks = between_checks});
}

TEST_CASE("periods of 5 and 7 ms take 11 one-shot interrupts in 35 ms, and a tick of 1 ms takes 35") {
  const TimerCounts one_shot = published_timers(0us, 0us);
  CHECK(one_shot.interrupts == 11);
  CHECK(one_shot.fired == 12);  // two at the end, by one interrupt
  CHECK(one_shot.latest == 0us);
  CHECK(count_interrupts({.periods = {1ms}, .length = 35ms}).interrupts == 35);
}

TEST_CASE("each timer that a soft check does not find within the overshoot takes an interrupt") {
  // From each expiry to the next check, with a check each 64 us: 56, 40, 48, 16, 40, 32, 56, 24, 32, 16 and 8 us.
  CHECK(published_timers(0us, 64us).interrupts == 11);
  CHECK(published_timers(20us, 64us).interrupts == 8);
  CHECK(published_timers(20us, 64us).hits == 3);
  CHECK(published_timers(50us, 64us).interrupts == 2);
  CHECK(published_timers(50us, 64us).latest == 50us);
  CHECK(published_timers(100us, 64us).interrupts == 0);
  CHECK(published_timers(100us, 64us).hits == 11);
  CHECK(published_timers(100us, 64us).latest == 56us);
}

TEST_CASE("without soft checks an overshoot makes timers late and saves nothing but interrupts that coincide") {
  const TimerCounts late = published_timers(100us, 0us);
  CHECK(late.interrupts == 11);
  CHECK(late.latest == 100us);
}

TEST_CASE("a soft check at the instant of an expiry saves the interrupt") {
  CHECK(count_interrupts({.periods = {1ms}, .length = 10ms, .between_checks = 1ms}).interrupts == 0);
}

}  // namespace timer_interrupts_test
