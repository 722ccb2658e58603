// What is a channel's own among the streams; what all have in common is in conformance_test.cpp.
#include "orb/transport/channel.h"

#include <poll.h>

#include <array>
#include <catch2/catch.hpp>

#include "tests/orb/transport/kinds.h"

using namespace corelane;
using namespace corelane::testing;

namespace {

bool has_news(const transport::Connection& end) {
  pollfd readable{.fd = end.descriptor(), .events = POLLIN, .revents = 0};
  return poll(&readable, 1, 0) == 1;
}

}  // namespace

TEST_CASE("a channel's descriptor tells of nothing while its end is only glanced at") {
  StreamHarness<SharedMemory> harness;
  const auto [caller, called] = harness.connect();
  std::array<std::byte, 16> buffer;
  REQUIRE_FALSE(receive(called, Time{}));
  REQUIRE_FALSE(called->glance(buffer));
  REQUIRE(send(caller, "x"));
  CHECK_FALSE(has_news(*called));
  CHECK(*called->glance(buffer) == 1);
  REQUIRE_FALSE(receive(called, Time{}));
  REQUIRE(send(caller, "y"));
  CHECK(has_news(*called));
  CHECK(*receive(called, Time{}) == 1);
}
