// Tests the arrival time of a request that came on a task's own connection.
#include "orb/core/server/dedicated_connection.h"

#include <catch2/catch.hpp>

using namespace corelane;
using namespace std::chrono_literals;

namespace {

constexpr Time empty_at{10s}, read_at{11s};
int clock_reads = 0;

Time clock_of_reader() noexcept { return ++clock_reads, read_at; }
Time arrival(Time stamp) { return core::plausible(stamp, empty_at, &clock_of_reader); }

}  // namespace

TEST_CASE("bytes came when they were stamped, if that lies between an empty connection and the read") {
  for (const Time stamp : {empty_at, empty_at + 1ns, read_at - 1ns, read_at}) CHECK(arrival(stamp) == stamp);
}

TEST_CASE("bytes that were stamped on their way to an empty connection came when it was found empty") {
  CHECK(arrival(empty_at - 1us) == empty_at);
}

TEST_CASE("bytes whose stamp a step of the date has spoilt came when they were read") {
  for (const Duration step : {Duration{2ms}, Duration{1s}, Duration{100000h}})
    CHECK(arrival(empty_at - step) == read_at);
}

TEST_CASE("the clock is read only for a stamp that is wrong") {
  clock_reads = 0;
  arrival(empty_at - 1us);
  arrival(read_at);
  CHECK(clock_reads == 0);
  arrival(empty_at - 2ms);
  CHECK(clock_reads == 1);
}
