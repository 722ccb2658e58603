#include "orb/core/client/reopen_pause.h"

#include <catch2/catch.hpp>

using namespace corelane;
using core::ReopenPause;
using namespace std::chrono_literals;

namespace {

constexpr Time began{1000s};

// Makes attempts that fail, each when it is due. Returns the time of the last one.
Time fail(ReopenPause& pause, int times, Time now) {
  for (; times > 0; --times) pause.tried(now = pause.due());
  return now;
}

}  // namespace

TEST_CASE("a connection is tried again a second after it could not be had at first") {
  ReopenPause pause;
  pause.begin(began);
  CHECK(pause.due() == began + 1s);
  pause.lost(began + 1h);
  CHECK(pause.due() == began + 1s);
}

TEST_CASE("attempts that fail are twice as far apart each time, and a minute at most") {
  ReopenPause pause;
  pause.begin(began);
  Time last = began;
  for (const auto apart : {1s, 2s, 4s, 8s, 16s, 32s, 60s, 60s}) {
    const Time next = pause.due();
    CHECK(next - last == apart);
    pause.tried(last = next);
  }
}

TEST_CASE("after a connection that lasted a minute attempts begin anew") {
  ReopenPause pause;
  pause.begin(began);
  const Time last = fail(pause, 4, began);
  pause.opened();
  const Time lost = last + 1min;
  pause.lost(lost);
  CHECK(pause.due() <= lost);  // at once
  pause.tried(lost);
  CHECK(pause.due() == lost + 2s);
}

TEST_CASE("after one that did not last a minute they do not") {
  ReopenPause pause;
  pause.begin(began);
  const Time last = fail(pause, 4, began);
  pause.opened();
  pause.lost(last + 1min - 1ns);
  CHECK(pause.due() == last + 16s);
  pause.lost(last + 1h);  // the same connection is lost again
  CHECK(pause.due() == last + 16s);
}
