#include "orb/base/retry_pause.h"

#include <catch2/catch.hpp>

using namespace corelane;
using namespace std::chrono_literals;

TEST_CASE("pauses between attempts double from one second to eight, and begin again after a success") {
  RetryPause pause;
  CHECK(pause.due() == Time{});
  Time now = Time{} + 1h;
  for (const auto expected : {1s, 2s, 4s, 8s, 8s}) {
    CHECK(pause.failed(now) == (expected == 1s));
    CHECK(pause.due() == now + expected);
    now = pause.due();
  }
  pause.succeeded();
  CHECK(pause.due() == Time{});
  CHECK(pause.failed(now));
  CHECK(pause.due() == now + 1s);
}
