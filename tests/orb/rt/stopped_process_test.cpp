// Tests processes that are stopped (SIGSTOP) in the middle of their calls, and continued: what the others see
// meanwhile, and whether the two sides understand each other afterwards. CORELANE_STOPPED_SECONDS=5 stops them for
// longer than usual.
#include <signal.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <string>
#include <vector>

#include "orb/os/clock.h"
#include "tests/support/modes.h"
#include "tests/support/peers/probe_peer.h"
#include "tests/support/peers/task_peer.h"
#include "tests/support/system/from_environment.h"
#include "tests/support/system/temp_directory.h"

namespace stopped_process_test {

using namespace corelane;
using namespace corelane::testing;
using namespace std::chrono_literals;
using Catch::Contains;
using Catch::StartsWith;

namespace {

Duration while_stopped() {
  const auto seconds = from_environment("CORELANE_STOPPED_SECONDS", 0);
  return seconds == 0 ? Duration{200ms} : std::chrono::seconds{seconds};
}

// Repeats the calls of one client's task while another process is stopped. Each call is answered.
void go_on(TaskPeer& client) {
  for (const Time end = os::now() + while_stopped(); os::now() < end;)
    REQUIRE_THAT(client.ask("add 5"), StartsWith("5 right"));
}

void go_on_again(pid_t process) { REQUIRE(kill(process, SIGCONT) == 0); }

// A server in each dispatch mode, over TCP and over a channel, with one core. Two tasks cannot have half of that core
// each.
struct Stoppable {
  bool promises() const { return mode != "leader-followers"; }
  std::string half_is() const { return promises() ? "refused not_schedulable" : "admitted"; }

  const TempDirectory directory{};
  const std::string mode = GENERATE(every_mode());
  const std::string listen = GENERATE(as<std::string>{}, "127.0.0.1:0", "channel:");
  TaskServer server{{"-ORBLimitsPeerUtilization", "0", "-ORBDispatchMode", mode, "-ORBPoolCores",
                     std::to_string(first_core().value), "-ORBEndpointListen",
                     listen == "channel:" ? listen + directory / "c" : listen}};
};

// A client with two tasks, of which one has half of a core. One of its calls is under way until it is released, and its
// first task is called all the time.
struct BusyClient : TaskPeer {
  explicit BusyClient(TaskServer& server) : TaskPeer(server.client(2, 10)) {
    REQUIRE(said == "admitted");
    REQUIRE(ask("ask 500") == "admitted");
    REQUIRE(ask("block") == "calling");
    REQUIRE_THAT(server.ask("blocked"), StartsWith("cores "));
    REQUIRE(ask("go") == "going");
  }
  // Checks that the calls that were under way end well, and that more calls are answered.
  void is_understood() {
    CHECK(ask("unblock") == "answered");
    CHECK_THAT(ask("halt"), Contains(" right"));
    CHECK_THAT(ask("add 3"), StartsWith("3 right"));
  }
};

}  // namespace

TEST_CASE("a client that is stopped in its calls delays no other client and goes on when it is continued") {
  Stoppable test;
  BusyClient stopped(test.server);
  TaskPeer other(test.server.client(2, 10));
  REQUIRE(stop_process(stopped.pid()));
  go_on(other);
  CHECK_THAT(test.server.ask("release"), StartsWith("cores "));  // its reply goes to a client that is stopped
  go_on(other);
  CHECK(other.ask("ask 500") == test.half_is());  // the stopped client keeps what was promised to it
  go_on_again(stopped.pid());
  stopped.is_understood();
  CHECK(other.ask("ask 500") == test.half_is());
  CHECK(stopped.end().ok());
  while (other.ask("ask 500") != "admitted") continue;  // bound: the server notices the client's end
}

TEST_CASE("a server that is stopped in its tasks' calls holds up no other, keeps its promises and goes on") {
  Stoppable test;
  BusyClient busy(test.server);
  TaskServer another({});
  TaskPeer elsewhere(another.client(2, 10));
  REQUIRE(stop_process(test.server.pid()));
  go_on(elsewhere);
  go_on_again(test.server.pid());
  TaskPeer late(test.server.client(2, 10));
  CHECK(late.said == "admitted");
  CHECK(late.ask("ask 500") == test.half_is());
  CHECK_THAT(late.ask("add 3"), StartsWith("3 right"));
  CHECK_THAT(test.server.ask("release"), StartsWith("cores "));
  busy.is_understood();
}

TEST_CASE("a call whose time passes while the server is stopped is TIMEOUT and later calls get their own answers") {
  Stoppable test;
  TaskPeer impatient(test.server.client(2, 10, {"-ORBTimeoutRequest", "100ms"}));
  REQUIRE(impatient.said == "admitted");
  REQUIRE(stop_process(test.server.pid()));
  for (int i = 0; i < 3; ++i) CHECK_THAT(impatient.ask("add 1"), Contains("TIMEOUT"));
  go_on_again(test.server.pid());
  // Bound: a machine that answers three calls within 100 ms each. The answer to another call would end the client.
  std::string answer;
  do answer = impatient.ask("add 3");
  while (answer.find("TIMEOUT") != answer.npos || answer.find("TRANSIENT") != answer.npos);
  CHECK_THAT(answer, StartsWith("3 right"));
}

}  // namespace stopped_process_test
