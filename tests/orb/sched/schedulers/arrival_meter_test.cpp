#include "orb/sched/schedulers/arrival_meter.h"

#include <catch2/catch.hpp>

namespace arrival_meter_test {

using namespace corelane;
using namespace corelane::sched;
using namespace std::chrono_literals;

namespace {

constexpr Time at(Duration since_start) { return Time{1h + since_start}; }

ArrivalMeter meter_of(Duration period, Duration jitter = {}) {
  return ArrivalMeter(make_contract(period, period / 10, period, jitter));
}

}  // namespace

TEST_CASE("a contract foresees a request in each of its periods, for ever") {
  ArrivalMeter meter = meter_of(10ms);
  for (int i = 0; i < 1000; ++i) CHECK(meter.foresees(at(i * 10ms)));
}

TEST_CASE("a contract foresees a client that calls again as soon as it has its answer") {
  ArrivalMeter meter = meter_of(10ms);
  for (int i = 0; i < 1000; ++i) CHECK(meter.foresees(at(i * 10ms + (i == 0 ? 0ms : -9ms))));
}

TEST_CASE("a contract foresees one early request and its jitter, and nothing sooner") {
  SECTION("without jitter") {
    ArrivalMeter meter = meter_of(10ms);
    CHECK(meter.foresees(at(0ms)));
    CHECK(meter.foresees(at(0ms)));
    CHECK_FALSE(meter.foresees(at(0ms)));
    CHECK_FALSE(meter.foresees(at(10ms - 1ns)));
    CHECK(meter.foresees(at(10ms)));
  }
  SECTION("with jitter") {
    ArrivalMeter meter = meter_of(10ms, 1ms);
    CHECK(meter.foresees(at(0ms)));
    CHECK(meter.foresees(at(0ms)));
    CHECK_FALSE(meter.foresees(at(9ms - 1ns)));
    CHECK(meter.foresees(at(9ms)));
  }
}

TEST_CASE("requests beyond a contract take nothing from those within it") {
  ArrivalMeter meter = meter_of(10ms);
  REQUIRE(meter.foresees(at(0ms)));
  int foreseen = 0;
  for (Duration now = 1us; now < 100ms; now += 1us) foreseen += meter.foresees(at(now)) ? 1 : 0;
  CHECK(foreseen == 10);  // one early request at once, then one in each period
  CHECK(meter.foresees(at(100ms)));
}

TEST_CASE("a long pause gives a contract no more than it has") {
  ArrivalMeter meter = meter_of(10ms);
  REQUIRE(meter.foresees(at(0ms)));
  int foreseen = 0;
  for (int i = 0; i < 10; ++i) foreseen += meter.foresees(at(1h)) ? 1 : 0;
  CHECK(foreseen == 2);
}

TEST_CASE("without a contract nothing is foreseen") {
  ArrivalMeter meter;
  CHECK_FALSE(meter.foresees(at(0ms)));
}

}  // namespace arrival_meter_test
