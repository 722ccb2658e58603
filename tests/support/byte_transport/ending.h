// Part of the suite of tests/support/byte_transport_suite.h: how a stream ends, and which thread learns of it.
#pragma once

#include <thread>

#include "tests/support/byte_transport/common.h"

TEMPLATE_LIST_TEST_CASE("bytes that were sent before the end arrive, and then the end in good order", "",
                        ByteTransports) {
  using namespace corelane::testing;
  if (!can_run<TestType>()) return;
  const auto strategy = any_strategy();
  StreamHarness<TestType> harness;
  const auto [caller, called] = harness.connect();
  REQUIRE(send(caller, "last words"));
  caller->close();
  CHECK(read(called, 10, strategy) == "last words");
  const auto end = receive(called, patience(), strategy);
  REQUIRE(end);
  CHECK(*end == 0);
}

TEMPLATE_LIST_TEST_CASE("dropping the last handle ends the stream in good order", "", ByteTransports) {
  using namespace corelane::testing;
  if (!can_run<TestType>()) return;
  StreamHarness<TestType> harness;
  auto [caller, called] = harness.connect();
  caller.reset();
  const auto end = receive(called, patience());
  REQUIRE(end);
  CHECK(*end == 0);
}

TEMPLATE_LIST_TEST_CASE("a watcher learns of the peer's orderly end once, after the last byte", "", ByteTransports) {
  using namespace corelane::testing;
  if (!can_run<TestType>()) return;
  StreamHarness<TestType> harness;
  const auto [caller, called] = harness.connect();
  const auto collector = std::make_shared<Collector>();
  called->watch(collector);
  REQUIRE(send(caller, "last words"));
  caller->close();
  CHECK(collector->closed.take().minor == corelane::minor::peer_closed);
  CHECK(collector->text() == "last words");
  CHECK_FALSE(called->is_open());
  called->close();
  harness.reactor->stop();
  CHECK(collector->closed.empty());
}

TEMPLATE_LIST_TEST_CASE("close wakes a receiver that waits", "", ByteTransports) {
  using namespace corelane::testing;
  if (!can_run<TestType>()) return;
  const auto strategy = any_strategy();
  const bool has_deadline = GENERATE(true, false);
  StreamHarness<TestType> harness;
  const auto [caller, called] = harness.connect();
  std::jthread closer([end = caller] { end->close(); });
  using namespace std::chrono_literals;
  const auto result = receive(caller, has_deadline ? patience() : corelane::never, strategy);
  REQUIRE_FALSE(result);
  CHECK(result.error().minor == corelane::minor::closed_here);
}

TEMPLATE_LIST_TEST_CASE("a watcher learns that this side closed", "", ByteTransports) {
  using namespace corelane::testing;
  if (!can_run<TestType>()) return;
  StreamHarness<TestType> harness;
  const auto [caller, called] = harness.connect();
  const auto collector = std::make_shared<Collector>();
  called->watch(collector);
  called->close();
  called->close();
  CHECK(collector->closed.take().minor == corelane::minor::closed_here);
}

TEMPLATE_LIST_TEST_CASE("a closed connection refuses everything and says why", "", ByteTransports) {
  using namespace corelane::testing;
  if (!can_run<TestType>()) return;
  StreamHarness<TestType> harness;
  const auto [caller, called] = harness.connect();
  CHECK(caller->is_open());
  caller->close();
  CHECK_FALSE(caller->is_open());
  const auto sent = send(caller, "x");
  REQUIRE_FALSE(sent);
  CHECK(sent.error().minor == corelane::minor::closed_here);
  CHECK(receive(caller, patience()).error().minor == corelane::minor::closed_here);
  const auto collector = std::make_shared<Collector>();
  caller->watch(collector);
  CHECK(collector->closed.take().minor == corelane::minor::closed_here);
}

TEMPLATE_LIST_TEST_CASE("an orderly end sends the backlog before it closes, whatever the peer sends meanwhile", "",
                        ByteTransports) {
  using namespace corelane::testing;
  if (!can_run<TestType>()) return;
  const bool peer_sends = GENERATE(false, true);
  StreamHarness<TestType> harness;
  const auto [caller, called] = harness.connect();
  const std::string much = pattern(beyond_any_socket_buffer);
  REQUIRE(send(caller, much));
  caller->close_when_sent(patience());
  CHECK(send(caller, "x").error().minor == corelane::minor::closed_here);
  CHECK(send_by(caller, patience(), "x").error().minor == corelane::minor::closed_here);
  if (peer_sends) REQUIRE(send(called, "nobody reads this"));
  CHECK((read(called, much.size()) == much));
  const auto end = receive(called, patience());
  CHECK((!end || *end == 0));
  CHECK(caller->wait_until_closed(patience()));
  CHECK_FALSE(caller->is_open());
}

TEMPLATE_LIST_TEST_CASE("an orderly end does not wait for its peer when its deadline has come", "", ByteTransports) {
  using namespace corelane::testing;
  if (!can_run<TestType>()) return;
  const auto left = GENERATE(std::chrono::milliseconds{-1}, std::chrono::milliseconds{5});
  StreamHarness<TestType> harness;
  const auto [caller, called] = harness.connect();
  REQUIRE(send(caller, pattern(beyond_any_socket_buffer)));
  CHECK_FALSE(caller->wait_until_closed(corelane::os::now() + std::chrono::milliseconds{1}));
  caller->close_when_sent(corelane::os::now() + left);
  CHECK(caller->wait_until_closed(patience()));
}

TEMPLATE_LIST_TEST_CASE("an orderly end refuses senders that wait for room", "", ByteTransports) {
  using namespace corelane::testing;
  if (!can_run<TestType>()) return;
  StreamHarness<TestType> harness({.backlog = 4 * 1024 * 1024});
  const auto [caller, called] = harness.connect();
  REQUIRE(send(caller, pattern(beyond_any_socket_buffer)));
  Mailbox<bool> sent;
  std::jthread waiting([&, end = caller] { sent.put(send_by(end, patience(), "late").has_value()); });
  std::this_thread::yield();
  caller->close_when_sent(patience());
  CHECK_FALSE(sent.take());
  CHECK((read(called, beyond_any_socket_buffer + 4) == pattern(beyond_any_socket_buffer)));
  CHECK(caller->wait_until_closed(patience()));
}

TEMPLATE_LIST_TEST_CASE("an orderly end with an empty backlog closes, and a second one changes nothing", "",
                        ByteTransports) {
  using namespace corelane::testing;
  if (!can_run<TestType>()) return;
  StreamHarness<TestType> harness;
  const auto [caller, called] = harness.connect();
  REQUIRE(send(called, "unread"));
  REQUIRE(send(caller, "last words"));
  CHECK(read(called, 10) == "last words");
  caller->close_when_sent(patience());
  caller->close_when_sent(corelane::os::now());
  CHECK(caller->wait_until_closed(patience()));
  const auto end = receive(called, patience());
  CHECK((!end || *end == 0));
}

TEMPLATE_LIST_TEST_CASE("close ends an orderly end early, and wakes its waiter", "", ByteTransports) {
  using namespace corelane::testing;
  if (!can_run<TestType>()) return;
  StreamHarness<TestType> harness;
  const auto [caller, called] = harness.connect();
  REQUIRE(send(caller, pattern(beyond_any_socket_buffer)));
  caller->close_when_sent(corelane::never);
  std::jthread closer([end = caller] { end->close(); });
  CHECK(caller->wait_until_closed(patience()));
}
