// Tests that a monitor learns of the end of a connection that has no reader, and of its idle times.
#include <catch2/catch.hpp>
#include <memory>

#include "tests/orb/transport/kinds.h"

namespace monitor_test {

using namespace corelane;
using namespace corelane::testing;
using namespace std::chrono_literals;

namespace {

struct Listening final : transport::ConnectionMonitor {
  void on_peer_end() noexcept override { ended.put(true); }
  void on_idle() noexcept override { idle.put(true); }

  Mailbox<bool> ended, idle;
};

std::shared_ptr<Listening> monitor_of(const ConnectionPtr& connection) {
  auto monitor = std::make_shared<Listening>();
  connection->set_monitor(monitor);
  return monitor;
}

}  // namespace

#define CORELANE_TEST_KINDS TcpV4, UnixSocket, SharedMemory, SharedByUsers, Apart<UnixSocket>, Apart<SharedByUsers>

TEMPLATE_TEST_CASE("a monitor is told of the peer's end though no thread reads", "", CORELANE_TEST_KINDS) {
  StreamHarness<TestType> streams;
  const Pair pair = streams.connect();
  const auto monitor = monitor_of(pair.caller);
  pair.called->close();
  CHECK(monitor->ended.take());
  CHECK(receive(pair.caller, patience()).value() == 0);
}

TEMPLATE_TEST_CASE("a monitor hears of an end that came before it", "", CORELANE_TEST_KINDS) {
  StreamHarness<TestType> streams;
  const Pair pair = streams.connect();
  pair.called->close();
  CHECK(monitor_of(pair.caller)->ended.take());
}

TEMPLATE_TEST_CASE("last words can be read after the monitor has heard of the end", "", CORELANE_TEST_KINDS) {
  StreamHarness<TestType> streams;
  const Pair pair = streams.connect();
  const auto monitor = monitor_of(pair.caller);
  REQUIRE(send(pair.called, "bye"));
  pair.called->close();
  CHECK(monitor->ended.take());
  CHECK(read(pair.caller, 3) == "bye");
}

TEMPLATE_TEST_CASE("a monitored connection carries bytes both ways, its backlog too", "", CORELANE_TEST_KINDS) {
  StreamHarness<TestType> streams;
  const Pair pair = streams.connect();
  const auto monitor = monitor_of(pair.caller);
  const std::string much = pattern(6 * 1024 * 1024);
  for (int round = 0; round < 3; ++round) {
    REQUIRE(send(pair.caller, much));
    CHECK((read(pair.called, much.size()) == much));
    REQUIRE(send(pair.called, "answer"));
    CHECK(read(pair.caller, 6) == "answer");
  }
  CHECK(monitor->ended.empty());
  pair.called->close();
  CHECK(monitor->ended.take());
}

TEMPLATE_TEST_CASE("a monitor hears of idle times again and again and not of a connection's use", "",
                   CORELANE_TEST_KINDS) {
  StreamHarness<TestType> streams({.idle_timeout = 20ms});
  const Time begun = os::now();
  const Pair pair = streams.connect();
  const auto monitor = monitor_of(pair.caller);
  CHECK(monitor->idle.take());
  CHECK(os::now() - begun >= 20ms);
  CHECK(monitor->idle.take());
  CHECK(pair.caller->is_open());
}

TEMPLATE_TEST_CASE("a monitor that has gone is told nothing, and the connection ends with its last handle", "",
                   CORELANE_TEST_KINDS) {
  StreamHarness<TestType> streams;
  Pair pair = streams.connect();
  monitor_of(pair.caller).reset();
  pair.caller->close();
  pair.caller.reset();
  CHECK(receive(pair.called, patience()).value() == 0);
}

#undef CORELANE_TEST_KINDS

}  // namespace monitor_test
