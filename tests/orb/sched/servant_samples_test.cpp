#include "orb/sched/servant_samples.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>

using namespace corelane;
using namespace corelane::sched;
using namespace std::chrono_literals;

namespace servant_samples_test {
namespace {

constexpr Duration length = 10ms;

ServantWindow window(int running, std::uint64_t ended) {
  return {.length = length, .in_servants = length * running, .ended = ended};
}

constexpr ServantWindow waits{.length = 100ms, .in_servants = 100ms, .full = 100ms};

// Returns after how many windows, in which requests wait, the servants stall.
int windows_to_stall(ServantStall& stall, Duration servant_time) {
  int windows = 1;
  while (!stall.take(waits, true, servant_time)) ++windows;
  return windows;
}

}  // namespace

TEST_CASE("a sample is complete when as many servants have ended as run") {
  ServantSamples samples;
  samples.add(window(4, 3));
  CHECK_FALSE(samples.is_complete(1));
  samples.add(window(4, 1));
  CHECK(samples.is_complete(1));
  CHECK(samples.is_complete(2));
  CHECK_FALSE(samples.is_complete(3));
  const auto sample = samples.end();
  REQUIRE(sample);
  CHECK(sample->ended == 4);
  CHECK(sample->length == 2 * length);
  CHECK(samples.servant_time() == 20ms);
}

TEST_CASE("a sample in which no servant ends is complete after its longest time") {
  ServantSamples samples;
  for (int i = 1; i < ServantSamples::longest; ++i) samples.add(window(1, 0));
  CHECK_FALSE(samples.is_complete(1));
  samples.add(window(1, 0));
  CHECK(samples.is_complete(1));
}

TEST_CASE("the sample after a change of the limit is not used") {
  ServantSamples samples;
  samples.add(window(1, 1));
  samples.settle(3);
  samples.add(window(1, 2));
  CHECK(samples.is_settling());
  CHECK_FALSE(samples.is_complete(1));
  samples.add(window(1, 1));
  CHECK(samples.is_complete(1));
  CHECK_FALSE(samples.end());
  CHECK_FALSE(samples.is_settling());
  samples.add(window(1, 1));
  const auto sample = samples.end();
  REQUIRE(sample);
  CHECK(sample->ended == 1);
}

TEST_CASE("servants stall after four times their usual time, within bounds") {
  ServantStall stall;
  CHECK(windows_to_stall(stall, 100ms) == 4);
  CHECK(windows_to_stall(stall, 100ms) == 4);  // it has begun anew
  CHECK(windows_to_stall(stall, {}) == ServantStall::shortest / waits.length);
  CHECK(windows_to_stall(stall, 1min) == ServantStall::longest / waits.length);
}

TEST_CASE("servants do not stall if one ends, if no request waits, or without a limit") {
  ServantStall stall;
  for (int i = 0; i < 3; ++i) REQUIRE_FALSE(stall.take(waits, true, 100ms));
  SECTION("one ends") {
    CHECK_FALSE(stall.take({.length = 100ms, .in_servants = 100ms, .ended = 1, .full = 100ms}, true, 100ms));
  }
  SECTION("no request waits") { CHECK_FALSE(stall.take({.length = 100ms, .in_servants = 100ms}, true, 100ms)); }
  SECTION("there is no limit") { CHECK_FALSE(stall.take(waits, false, 100ms)); }
  CHECK(windows_to_stall(stall, 100ms) == 4);
}

TEST_CASE("so many servants cannot end more than so many times as often as one alone") {
  SoloRate solo;
  CHECK_FALSE(solo.excludes(1, 1e9));
  solo.measure({.length = 1s, .in_servants = 1s, .ended = 100});
  CHECK_FALSE(solo.excludes(2, 200));
  CHECK(solo.excludes(2, 201));
  SECTION("until it is forgotten") { solo.forget(); }
  SECTION("until it is 256 samples old") {
    for (int i = 1; i < 256; ++i) REQUIRE_FALSE(solo.expires());
    CHECK(solo.expires());
    CHECK_FALSE(solo.expires());
  }
  CHECK_FALSE(solo.excludes(2, 201));
}

}  // namespace servant_samples_test
