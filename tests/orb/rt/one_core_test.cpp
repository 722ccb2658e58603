// Tests a server and its client that share one core from their start. The server runs with real-time priorities above
// its client where the system grants them, and without them.
#include <catch2/catch.hpp>
#include <iostream>
#include <string>
#include <vector>

#include "orb/os/privileges.h"
#include "tests/support/modes.h"
#include "tests/support/peers/task_peer.h"
#include "tests/support/system/temp_directory.h"

namespace one_core_test {

using namespace corelane;
using namespace corelane::testing;
using Catch::StartsWith;

namespace {

// Runs the test in each dispatch mode, over TCP and over a channel.
struct OneCore {
  explicit OneCore(const std::string& real_time) : real_time_(real_time) {}
  bool promises() const { return mode != "leader-followers"; }

  const os::ChildOptions pinned{.core = first_core()};
  const TempDirectory directory{};
  const std::string mode = GENERATE(every_mode());
  const std::string listen = GENERATE(as<std::string>{}, "127.0.0.1:0", "channel:");

 private:
  const std::string real_time_;

 public:
  TaskServer server{{"-ORBLimitsPeerUtilization", "0", "-ORBDispatchMode", mode, "-ORBPoolRealTime", real_time_,
                     "-ORBEndpointListen", listen == "channel:" ? listen + directory / "c" : listen},
                    pinned};
};

// Checks that a task that fits is admitted and served, beside calls without a task. A task that does not fit is
// refused, and disturbs no other.
void admits_answers_and_refuses(OneCore& test) {
  TaskPeer client(test.server.client(2, 10), test.pinned);
  CHECK(client.said == "admitted");
  CHECK_THAT(client.ask("add 50"), StartsWith("50 right"));
  CHECK(client.ask("ask 990") == (test.promises() ? "refused not_schedulable" : "admitted"));
  CHECK(client.ask("ask 100") == "admitted");
  REQUIRE(client.ask("block") == "calling");
  CHECK_THAT(test.server.ask("blocked"), StartsWith(test.promises() ? "cores 1 tasks 2 " : "cores 0 tasks 3 "));
  CHECK_THAT(client.ask("add 50"), StartsWith("50 right"));
  test.server.ask("release");
  CHECK(client.ask("unblock") == "answered");
  CHECK(client.end().ok());
  CHECK(test.server.end().ok());
}

}  // namespace

TEST_CASE("a server on one core with its client admits, answers and refuses without real-time priorities") {
  OneCore test("off");
  admits_answers_and_refuses(test);
}

TEST_CASE("a server on one core with its client admits, answers and refuses with real-time priorities") {
  if (!os::privileges().fifo) {
    std::cout << "SKIPPED: no privilege for SCHED_FIFO\n";
    return;
  }
  OneCore test("on");
  admits_answers_and_refuses(test);
}

}  // namespace one_core_test
