// Tests a server with tasks, and its clients, while the date (CLOCK_REALTIME) jumps by years in both directions in
// their processes. What they measure, wait for and give up follows the monotonic clock.
#include "tests/support/system/jumping_clock.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <string>

#include "tests/support/peers/task_peer.h"
#include "tests/support/system/temp_directory.h"

namespace jumping_clock_test {

using namespace corelane;
using namespace corelane::testing;
using namespace std::chrono_literals;
using Catch::Contains;
using Catch::StartsWith;

namespace {

constexpr int period = 20, deadline = 100;  // ms

struct Jumping {
  Jumping() { REQUIRE(JumpingClock::works()); }

  const JumpingClock clock{};
  const TempDirectory directory{};
  const std::string listen = GENERATE(as<std::string>{}, "127.0.0.1:0", "channel:");
  TaskServer server{{"-ORBDispatchMode", GENERATE(as<std::string>{}, "manager", "direct"), "-ORBEndpointListen",
                     listen == "channel:" ? listen + directory / "c" : listen}};
};

// Returns the time in an answer "N right in NANOSECONDS ns".
Duration time_of(const std::string& answer) {
  const std::size_t at = answer.find(" in ");
  return Duration{at == answer.npos ? 0 : std::atoll(answer.c_str() + at + 4)};
}

}  // namespace

TEST_CASE("jobs are released a period apart and none misses its deadline however the date jumps") {
  Jumping test;
  TaskPeer client(test.server.client(period, deadline));
  REQUIRE(client.said == "admitted");
  constexpr int jobs = 15;
  const auto missed = [&] {
    const std::string report = test.server.ask("report");
    return report.substr(report.find(" misses "));
  };
  std::string before;
  do {  // bound: a machine that does not stall in one round; by the date, each job is years early or late
    before = missed();
    const std::string answer = client.ask("add " + std::to_string(jobs));
    CHECK_THAT(answer, StartsWith("15 right"));
    CHECK(time_of(answer) >= (jobs - 1) * period * 1ms - 1ms);  // less the jitter J; a slow machine may take longer
  } while (missed() != before);
}

TEST_CASE("a call waits for its reply as long as it may however the date jumps") {
  Jumping test;
  TaskPeer patient(test.server.client(period, deadline, {"-ORBTimeoutRequest", "600s"}));
  REQUIRE(patient.ask("block") == "calling");
  CHECK_THAT(test.server.ask("blocked"), Contains(" tasks 1 "));
  CHECK_THAT(patient.ask("add 3"), StartsWith("3 right"));  // meanwhile both processes read their clocks
  test.server.ask("release");
  CHECK(patient.ask("unblock") == "answered");
}

TEST_CASE("a call that takes too long is TIMEOUT however the date jumps") {
  Jumping test;
  TaskPeer impatient(test.server.client(period, deadline, {"-ORBTimeoutRequest", "300ms"}));
  REQUIRE(impatient.ask("block") == "calling");
  CHECK_THAT(impatient.ask("unblock"), Contains("TIMEOUT"));  // with a date ten years back it would wait forever
}

}  // namespace jumping_clock_test
