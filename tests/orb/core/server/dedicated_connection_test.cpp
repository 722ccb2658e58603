// Tests the arrival time of a request that came on a task's own connection.
#include "orb/core/server/dedicated_connection.h"

#include <catch2/catch.hpp>

using namespace corelane;
using namespace std::chrono_literals;

namespace {

constexpr Time empty_at{10s}, read_at{11s};

}  // namespace

TEST_CASE("bytes came when they were stamped, if that lies between an empty connection and the read") {
  for (const Time stamp : {empty_at, empty_at + 1ns, read_at - 1ns, read_at})
    CHECK(core::plausible(stamp, empty_at, read_at) == stamp);
}

TEST_CASE("bytes that were stamped on their way to an empty connection came when it was found empty") {
  CHECK(core::plausible(empty_at - 1us, empty_at, read_at) == empty_at);
}

TEST_CASE("bytes whose stamp a step of the date has spoilt came when they were read") {
  for (const Duration step : {Duration{2ms}, Duration{1s}, Duration{100000h}})
    CHECK(core::plausible(empty_at - step, empty_at, read_at) == read_at);
  CHECK(core::plausible(read_at + 1s, empty_at, read_at) == read_at);
}
