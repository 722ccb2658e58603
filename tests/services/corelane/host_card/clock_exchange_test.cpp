#include "services/corelane/host_card/clock_exchange.h"

#include <catch2/catch.hpp>

#include "services/corelane/host_card/hops.h"
#include "tests/services/corelane/host_card/two_cores.h"

namespace clock_exchange_test {

using namespace corelane;
using namespace corelane::tool;
using namespace std::chrono_literals;

namespace {

// Returns an exchange between clocks of which the second is `ahead`, over ways of these lengths.
ClockExchange exchange(Duration sent, Duration ahead, Duration there, Duration back) {
  const Time x0{sent};
  return {.sent = x0, .answered = x0 + there + ahead, .received = x0 + there + back};
}

constexpr CoreId one{0}, other{1};

}  // namespace

TEST_CASE("d0 is twice the offset of the other core's clock if both ways take equally long") {
  CHECK(d0_of(exchange(5s, 650ns, 80ns, 80ns)) == 1300ns);
  CHECK(d0_of(exchange(5s, -650ns, 80ns, 80ns)) == -1300ns);
  CHECK(d0_of(exchange(5s, 0ns, 80ns, 80ns)) == 0ns);
}

TEST_CASE("ways of different lengths change d0 by their difference") {
  CHECK(d0_of(exchange(5s, 0ns, 100ns, 60ns)) == 40ns);
}

TEST_CASE("the offset of a clock is half of the median of d0, and the shortest round trip bounds it") {
  const auto offset = clock_offset_of(
      one, other, {exchange(1s, 650ns, 900ns, 50ns), exchange(2s, 650ns, 80ns, 80ns), exchange(3s, 650ns, 45ns, 50ns)});
  CHECK(offset == eval::ClockOffset{.from = one, .to = other, .d0 = 1300ns, .round_trip = 95ns, .count = 3});
  CHECK(offset.offset() == 650ns);
}

TEST_CASE("no exchange gives an offset without messages") {
  CHECK(clock_offset_of(one, other, {}) == eval::ClockOffset{.from = one, .to = other});
}

TEST_CASE("a hop to a polling thread is half of a round trip") {
  CHECK(polling_hops_of({exchange(1s, 1us, 60ns, 50ns), exchange(2s, 1us, 30ns, 40ns)}) ==
        std::vector<Duration>{55ns, 35ns});
}

TEST_CASE("two threads bounce each message once, in order") {
  const auto cores = testing::two_cores();
  if (!cores) return;
  const auto exchanges = exchange_clocks(cores->first, cores->second, 100);
  REQUIRE(exchanges);
  REQUIRE(exchanges->size() == 100);
  for (std::size_t i = 0; i < exchanges->size(); ++i) {
    CHECK((*exchanges)[i].sent <= (*exchanges)[i].received);
    if (i > 0) CHECK((*exchanges)[i - 1].answered <= (*exchanges)[i].answered);
  }
}

}  // namespace clock_exchange_test
