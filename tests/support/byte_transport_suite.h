// What every transport of byte streams must do. A test file declares its kinds and includes this file once:
//   using ByteTransports = std::tuple<TcpV4, TcpV6>;   // see Kind in stream_harness.h
//   #include "tests/support/byte_transport_suite.h"
#pragma once

#include <atomic>
#include <iostream>
#include <optional>
#include <thread>
#include <vector>

#include "orb/base/minor.h"
#include "tests/support/stream_harness.h"

namespace corelane::testing {

template <typename Kind>
bool can_run() {
  const std::optional<std::string> missing = Kind::missing();
  if (missing) std::cout << "SKIPPED: " << *missing << "\n";
  return !missing;
}

// Every way to wait.
inline os::WaitStrategy any_strategy() {
  using namespace std::chrono_literals;
  return GENERATE(os::WaitStrategy{os::WaitMode::park}, os::WaitStrategy{os::WaitMode::spin},
                  os::WaitStrategy{os::WaitMode::spin_then_park, 50us});
}

inline constexpr std::size_t beyond_any_socket_buffer = 12 * 1024 * 1024;

}  // namespace corelane::testing

TEMPLATE_LIST_TEST_CASE("bytes arrive in order and whole", "", ByteTransports) {
  using namespace corelane::testing;
  if (!can_run<TestType>()) return;
  const auto strategy = any_strategy();
  StreamHarness<TestType> harness;
  const auto [caller, called] = harness.connect();
  const std::string text = pattern(300'000);
  std::jthread reader([&, end = called] { CHECK(read(end, text.size(), strategy) == text); });
  for (std::size_t at = 0; at < text.size(); at += 1000) REQUIRE(send(caller, std::string_view(text).substr(at, 1000)));
}

TEMPLATE_LIST_TEST_CASE("both ends may talk at once", "", ByteTransports) {
  using namespace corelane::testing;
  if (!can_run<TestType>()) return;
  const auto strategy = any_strategy();
  StreamHarness<TestType> harness;
  const auto [caller, called] = harness.connect();
  const std::string there = pattern(100'000, 1), back = pattern(100'000, 2);
  std::jthread other([&, end = called] {
    CHECK(send(end, back));
    CHECK(read(end, there.size(), strategy) == there);
  });
  REQUIRE(send(caller, there));
  CHECK(read(caller, back.size(), strategy) == back);
}

TEMPLATE_LIST_TEST_CASE("a ping comes back many times under every strategy", "", ByteTransports) {
  using namespace corelane::testing;
  if (!can_run<TestType>()) return;
  const auto strategy = any_strategy();
  StreamHarness<TestType> harness;
  const auto [caller, called] = harness.connect();
  constexpr int rounds = 300;
  std::jthread echo([&, end = called] {
    for (int i = 0; i < rounds; ++i)
      if (!send(end, read(end, 4, strategy))) return;
  });
  int right = 0;
  for (int i = 0; i < rounds; ++i) {
    const std::string ping = pattern(4, static_cast<std::uint32_t>(i));
    if (send(caller, ping) && read(caller, 4, strategy) == ping) ++right;
  }
  CHECK(right == rounds);
}

TEMPLATE_LIST_TEST_CASE("the parts of a message arrive as one piece", "", ByteTransports) {
  using namespace corelane::testing;
  if (!can_run<TestType>()) return;
  StreamHarness<TestType> harness;
  const auto [caller, called] = harness.connect();
  std::vector<std::string> texts;
  std::vector<corelane::Bytes> parts;
  std::string whole;
  for (std::uint32_t i = 0; i < 100; ++i) whole += texts.emplace_back(pattern(i % 7, i));
  for (const std::string& text : texts) parts.push_back(bytes_of(text));
  REQUIRE(caller->send(parts));
  CHECK(read(called, whole.size()) == whole);
}

TEMPLATE_LIST_TEST_CASE("a receiver waits until its deadline and not less", "", ByteTransports) {
  using namespace corelane::testing;
  if (!can_run<TestType>()) return;
  const auto strategy = any_strategy();
  StreamHarness<TestType> harness;
  const auto [caller, called] = harness.connect();
  const corelane::Time deadline = corelane::os::now() + std::chrono::milliseconds{5};
  const auto result = receive(caller, deadline, strategy);
  REQUIRE_FALSE(result);
  CHECK(result.error().kind == corelane::ErrorKind::timeout);
  CHECK(result.error().minor == corelane::minor::deadline_passed);
  CHECK(corelane::os::now() >= deadline);
}

TEMPLATE_LIST_TEST_CASE("a stream whose receiver timed out goes on", "", ByteTransports) {
  using namespace corelane::testing;
  if (!can_run<TestType>()) return;
  StreamHarness<TestType> harness;
  const auto [caller, called] = harness.connect();
  CHECK_FALSE(receive(called, corelane::os::now()));
  REQUIRE(send(caller, "later"));
  CHECK(read(called, 5) == "later");
}

TEMPLATE_LIST_TEST_CASE("a deadline in the past takes what is there", "", ByteTransports) {
  using namespace corelane::testing;
  if (!can_run<TestType>()) return;
  const auto strategy = any_strategy();
  StreamHarness<TestType> harness;
  const auto [caller, called] = harness.connect();
  REQUIRE(send(caller, "ab"));
  REQUIRE(read(called, 1) == "a");  // now the rest is there as well
  const auto result = receive(called, corelane::Time{}, strategy);
  REQUIRE(result);
  CHECK(*result == 1);
}

TEMPLATE_LIST_TEST_CASE("a watcher gets every byte in order", "", ByteTransports) {
  using namespace corelane::testing;
  if (!can_run<TestType>()) return;
  StreamHarness<TestType> harness;
  const auto [caller, called] = harness.connect();
  const corelane::Time before = corelane::os::now();
  const auto collector = std::make_shared<Collector>();
  called->watch(collector);
  const std::string text = pattern(500'000);
  for (std::size_t at = 0; at < text.size(); at += 50'000)
    REQUIRE(send(caller, std::string_view(text).substr(at, 50'000)));
  CHECK(collector->wait_for(text.size()) == text);
  CHECK(collector->last_received() >= before);
  CHECK(collector->last_received() <= corelane::os::now());
}

TEMPLATE_LIST_TEST_CASE("a watcher may answer from its callback", "", ByteTransports) {
  using namespace corelane::testing;
  if (!can_run<TestType>()) return;
  struct Echo : Collector {
    explicit Echo(corelane::transport::Connection& to) : end(to) {}
    void on_bytes(corelane::Bytes bytes, corelane::Time) noexcept override { (void)end.send(bytes); }
    corelane::transport::Connection& end;
  };
  StreamHarness<TestType> harness;
  const auto [caller, called] = harness.connect();
  called->watch(std::make_shared<Echo>(*called));
  for (int i = 0; i < 20; ++i) {
    REQUIRE(send(caller, "ping"));
    CHECK(read(caller, 4) == "ping");
  }
}

TEMPLATE_LIST_TEST_CASE("reading passes from a watcher to a receiver and back without a loss", "", ByteTransports) {
  using namespace corelane::testing;
  if (!can_run<TestType>()) return;
  StreamHarness<TestType> harness;
  const auto [caller, called] = harness.connect();
  for (int round = 0; round < 20; ++round) {
    const auto collector = std::make_shared<Collector>();
    called->watch(collector);
    REQUIRE(send(caller, "watched"));
    CHECK(collector->wait_for(7) == "watched");
    called->unwatch();
    REQUIRE(send(caller, "received"));
    CHECK(read(called, 8) == "received");
    CHECK(collector->text() == "watched");
  }
}

TEMPLATE_LIST_TEST_CASE("a watcher may take itself away and the rest is for the receiver", "", ByteTransports) {
  using namespace corelane::testing;
  if (!can_run<TestType>()) return;
  struct Once : Collector {
    explicit Once(corelane::transport::Connection& of) : end(of) {}
    void on_bytes(corelane::Bytes bytes, corelane::Time received) noexcept override {
      end.unwatch();
      Collector::on_bytes(bytes, received);
    }
    corelane::transport::Connection& end;
  };
  StreamHarness<TestType> harness;
  const auto [caller, called] = harness.connect();
  const auto once = std::make_shared<Once>(*called);
  called->watch(once);
  REQUIRE(send(caller, "x"));
  REQUIRE(once->wait_for(1) == "x");
  REQUIRE(send(caller, "the rest"));
  CHECK(read(called, 8) == "the rest");
  CHECK(once->text() == "x");
}

TEMPLATE_LIST_TEST_CASE("many connections at once keep their bytes apart", "", ByteTransports) {
  using namespace corelane::testing;
  if (!can_run<TestType>()) return;
  StreamHarness<TestType> harness;
  std::vector<Pair> pairs;
  std::vector<std::shared_ptr<Collector>> collectors;
  for (std::uint32_t i = 0; i < 100; ++i) {
    pairs.push_back(harness.connect());
    pairs.back().called->watch(collectors.emplace_back(std::make_shared<Collector>()));
  }
  for (std::uint32_t i = 0; i < 100; ++i) REQUIRE(send(pairs[i].caller, pattern(2000, i)));
  for (std::uint32_t i = 0; i < 100; ++i) CHECK(collectors[i]->wait_for(2000) == pattern(2000, i));
}

TEMPLATE_LIST_TEST_CASE("both ends name each other and have identities of their own", "", ByteTransports) {
  using namespace corelane::testing;
  if (!can_run<TestType>()) return;
  StreamHarness<TestType> harness;
  const auto [caller, called] = harness.connect();
  CHECK(caller->peer() == called->local());
  CHECK(caller->local() == called->peer());
  CHECK(caller->peer() == harness.listener->endpoint());
  CHECK(caller->id() != called->id());
  CHECK(caller->id().value != 0);
}

// Edges.

TEMPLATE_LIST_TEST_CASE("an empty message is sent at once and nothing of it arrives", "", ByteTransports) {
  using namespace corelane::testing;
  if (!can_run<TestType>()) return;
  StreamHarness<TestType> harness;
  const auto [caller, called] = harness.connect();
  REQUIRE(send(caller, ""));
  REQUIRE(caller->send(std::span<const corelane::Bytes>{}));
  REQUIRE(send(caller, "x"));
  CHECK(read(called, 1) == "x");
}

TEMPLATE_LIST_TEST_CASE("a message beyond any socket buffer reaches a slow reader whole", "", ByteTransports) {
  using namespace corelane::testing;
  if (!can_run<TestType>()) return;
  StreamHarness<TestType> harness;
  const auto [caller, called] = harness.connect();
  const std::string text = pattern(beyond_any_socket_buffer);
  REQUIRE(send(caller, text));
  REQUIRE(send(caller, "and what comes after it"));
  CHECK((read(called, text.size()) == text));
  CHECK(read(called, 23) == "and what comes after it");
  REQUIRE(send(caller, "direct again"));
  CHECK(read(called, 12) == "direct again");
}

TEMPLATE_LIST_TEST_CASE("a backlog drains beside a receiver on the same connection", "", ByteTransports) {
  using namespace corelane::testing;
  if (!can_run<TestType>()) return;
  StreamHarness<TestType> harness;
  const auto [caller, called] = harness.connect();
  const std::string text = pattern(beyond_any_socket_buffer);
  REQUIRE(send(caller, text));
  REQUIRE(send(called, "meanwhile"));
  CHECK(read(caller, 9) == "meanwhile");
  CHECK((read(called, text.size()) == text));
}

TEMPLATE_LIST_TEST_CASE("a receiver sleeps while it waits also after the reactor had the stream", "", ByteTransports) {
  using namespace corelane::testing;
  using namespace std::chrono_literals;
  if (!can_run<TestType>()) return;
  StreamHarness<TestType> harness;
  const auto [caller, called] = harness.connect();
  const std::string text = pattern(beyond_any_socket_buffer);
  REQUIRE(send(caller, text));  // leaves a backlog
  REQUIRE((read(called, text.size()) == text));
  const corelane::Time deadline = corelane::os::now() + 1500ms;  // more than one wait in the system's recv
  const corelane::Duration before = corelane::os::thread_cpu_time();
  REQUIRE_FALSE(receive(caller, deadline));
  CHECK(corelane::os::now() >= deadline);
  CHECK(corelane::os::thread_cpu_time() - before < 500ms);
}

TEMPLATE_LIST_TEST_CASE("messages of many senders never mix", "", ByteTransports) {
  using namespace corelane::testing;
  if (!can_run<TestType>()) return;
  StreamHarness<TestType> harness;
  const auto [caller, called] = harness.connect();
  constexpr int senders = 4, messages = 50;
  constexpr std::size_t size = 20'000;  // together beyond the socket's buffers
  {
    std::vector<std::jthread> threads;
    for (int s = 0; s < senders; ++s)
      threads.emplace_back([&, end = caller, letter = static_cast<char>('a' + s)] {
        const std::string half(size / 2, letter);
        const corelane::Bytes parts[] = {bytes_of(half), bytes_of(half)};
        for (int m = 0; m < messages; ++m) CHECK(end->send(parts));
      });
    for (int m = 0; m < senders * messages; ++m) {
      const std::string message = read(called, size);
      REQUIRE(message.size() == size);
      if (message != std::string(size, message.front())) FAIL("message " << m << " holds bytes of another sender");
    }
  }
}

TEMPLATE_LIST_TEST_CASE("any free port is a real one afterwards", "", ByteTransports) {
  using namespace corelane::testing;
  if (!can_run<TestType>()) return;
  StreamHarness<TestType> harness;
  CHECK(harness.listener->endpoint().port != 0);
  CHECK(harness.listener->endpoint().host == TestType::anywhere().host);
}

// The end of a stream.

TEMPLATE_LIST_TEST_CASE("what was sent before the end arrives and then the end in good order", "", ByteTransports) {
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
  const auto result = receive(caller, has_deadline ? corelane::os::now() + 500ms : corelane::never, strategy);
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

// Error paths: a peer that does not read, that vanishes, that is not there.

TEMPLATE_LIST_TEST_CASE("a backlog beyond its bound closes the connection", "", ByteTransports) {
  using namespace corelane::testing;
  if (!can_run<TestType>()) return;
  StreamHarness<TestType> harness({.backlog = 100'000});
  const auto [caller, called] = harness.connect();
  const auto collector = std::make_shared<Collector>();
  caller->watch(collector);
  const std::string text = pattern(50'000);
  corelane::Expected<void> result;
  // Bound: the socket's buffers and the backlog are finite.
  for (int i = 0; i < 100'000 && result; ++i) result = send(caller, text);
  REQUIRE_FALSE(result);
  CHECK(result.error().kind == corelane::ErrorKind::transient);
  CHECK(result.error().minor == corelane::minor::send_backlog);
  CHECK_FALSE(caller->is_open());
  CHECK(collector->closed.take().minor == corelane::minor::send_backlog);
}

TEMPLATE_LIST_TEST_CASE("sending to a peer that has gone fails without a signal", "", ByteTransports) {
  using namespace corelane::testing;
  if (!can_run<TestType>()) return;
  StreamHarness<TestType> harness;
  auto [caller, called] = harness.connect();
  called.reset();
  corelane::Expected<void> result;
  // Bound: the peer's refusal comes back after the first of them.
  while (result) result = send(caller, "x");
  CHECK(result.error().kind == corelane::ErrorKind::comm_failure);
  CHECK(result.error().minor == corelane::minor::connection_lost);
}

TEMPLATE_LIST_TEST_CASE("nobody listens at an address whose listener stopped", "", ByteTransports) {
  using namespace corelane::testing;
  if (!can_run<TestType>()) return;
  StreamHarness<TestType> harness;
  const corelane::transport::Endpoint endpoint = harness.listener->endpoint();
  harness.listener->stop();
  harness.listener->stop();
  const auto result = harness.transport->connect(endpoint, patience());
  REQUIRE_FALSE(result);
  CHECK(result.error().kind == corelane::ErrorKind::transient);
  CHECK(result.error().minor == corelane::minor::connect_failed);
}

TEMPLATE_LIST_TEST_CASE("one address has one listener", "", ByteTransports) {
  using namespace corelane::testing;
  if (!can_run<TestType>()) return;
  StreamHarness<TestType> harness;
  const auto second = harness.transport->listen(harness.listener->endpoint(), [](ConnectionPtr) {});
  REQUIRE_FALSE(second);
  CHECK(second.error().kind == corelane::ErrorKind::comm_failure);
  CHECK(second.error().minor == corelane::minor::address_in_use);
}

TEMPLATE_LIST_TEST_CASE("connections beyond the limit are ended at once and room returns", "", ByteTransports) {
  using namespace corelane::testing;
  if (!can_run<TestType>()) return;
  const bool by_peer = GENERATE(true, false);
  StreamHarness<TestType> harness({.connections = by_peer ? 100u : 2u, .connections_per_peer = by_peer ? 2u : 100u});
  Pair first = harness.connect();
  const Pair second = harness.connect();
  const auto third = harness.transport->connect(harness.listener->endpoint(), patience());
  REQUIRE(third);  // the system accepted it, the listener does not
  CHECK(read(*third, 1).empty());
  CHECK(harness.accepted.empty());
  first.called.reset();
  const Pair fourth = harness.connect();
  REQUIRE(send(fourth.caller, "x"));
  CHECK(read(fourth.called, 1) == "x");
}

TEMPLATE_LIST_TEST_CASE("an idle connection is closed and one with traffic is not before it rests", "",
                        ByteTransports) {
  using namespace corelane::testing;
  using namespace std::chrono_literals;
  if (!can_run<TestType>()) return;
  constexpr auto timeout = 30ms;
  StreamHarness<TestType> harness({.idle_timeout = timeout});
  const auto [caller, called] = harness.connect();
  const auto collector = std::make_shared<Collector>();
  called->watch(collector);
  REQUIRE(send(caller, "x"));
  collector->wait_for(1);
  CHECK(collector->closed.take().minor == corelane::minor::idle_timeout);
  CHECK(corelane::os::now() >= collector->last_received() + timeout);
}

TEMPLATE_LIST_TEST_CASE("a peer that stalls in a message is cut off", "", ByteTransports) {
  using namespace corelane::testing;
  using namespace std::chrono_literals;
  if (!can_run<TestType>()) return;
  const bool in_callback = GENERATE(true, false);
  struct Impatient : Collector {
    explicit Impatient(corelane::transport::Connection& of) : end(of) {}
    void on_bytes(corelane::Bytes bytes, corelane::Time received) noexcept override {
      end.expect_by(received + 10ms);
      Collector::on_bytes(bytes, received);
    }
    corelane::transport::Connection& end;
  };
  StreamHarness<TestType> harness;
  const auto [caller, called] = harness.connect();
  const auto collector = in_callback ? std::make_shared<Impatient>(*called) : std::make_shared<Collector>();
  called->watch(collector);
  if (!in_callback) called->expect_by(corelane::os::now() + 10ms);
  REQUIRE(send(caller, "half a head"));
  const corelane::Error reason = collector->closed.take();
  CHECK(reason.kind == corelane::ErrorKind::timeout);
  CHECK(reason.minor == corelane::minor::deadline_passed);
}

TEMPLATE_LIST_TEST_CASE("a deadline taken back closes nothing", "", ByteTransports) {
  using namespace corelane::testing;
  using namespace std::chrono_literals;
  if (!can_run<TestType>()) return;
  StreamHarness<TestType> harness;
  const auto [caller, called] = harness.connect();
  const auto collector = std::make_shared<Collector>();
  called->watch(collector);
  const corelane::Time deadline = corelane::os::now() + 20ms;
  called->expect_by(deadline);
  called->expect_by(corelane::never);
  Mailbox<bool> passed;  // by the same reactor, after the deadline's own timer
  harness.reactor->schedule(deadline + 1ms, [&] { passed.put(true); });
  passed.take();
  CHECK(called->is_open());
}

TEMPLATE_LIST_TEST_CASE("a reactor that stops closes what it watches and answers later watchers", "", ByteTransports) {
  using namespace corelane::testing;
  if (!can_run<TestType>()) return;
  StreamHarness<TestType> harness;
  const auto [caller, called] = harness.connect();
  const auto first = std::make_shared<Collector>(), second = std::make_shared<Collector>();
  called->watch(first);
  harness.reactor->stop();
  CHECK(first->closed.take().minor == corelane::minor::shutting_down);
  caller->watch(second);
  CHECK(second->closed.take().minor == corelane::minor::shutting_down);
  called->unwatch();
}
