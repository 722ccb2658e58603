// Part of the suite of tests/support/byte_transport_suite.h: whole messages that do not mix, the backlog and its bound.
#pragma once

#include <sys/resource.h>

#include <thread>
#include <vector>

#include "tests/support/byte_transport/common.h"

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
  const corelane::Time deadline = corelane::os::now() + 1500ms;  // longer than one wait in the system's recv
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
  constexpr std::size_t size = 20'000;  // together more than the socket's buffers hold
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

// In the first round the reader takes all at once. In the second it pauses, so that the sender copies the rest.
TEMPLATE_LIST_TEST_CASE("a short message follows the whole of a long one that is being sent", "", ByteTransports) {
  using namespace corelane::testing;
  if (!can_run<TestType>()) return;
  StreamHarness<TestType> harness;
  const auto [caller, called] = harness.connect();
  for (const int pauses : {0, 3}) {
    CAPTURE(pauses);
    const std::string text = pattern(beyond_any_socket_buffer, static_cast<std::uint32_t>(pauses));
    const std::jthread sender([&, end = caller] {
      CHECK((pauses == 0 ? send_if_room(end, corelane::never, text) : send_by(end, corelane::never, text)));
    });
    std::string got = read(called, 1);
    REQUIRE(send(caller, "short"));
    for (int pause = 0; pause < pauses; ++pause) {
      std::this_thread::sleep_for(std::chrono::milliseconds{1});  // sleep: the pause that the sender does not wait for
      got += read(called, 100'000);
    }
    got += read(called, text.size() - got.size());
    CHECK((got == text));
    CHECK(read(called, 5) == "short");
  }
}

TEMPLATE_LIST_TEST_CASE("a sender that may not wait does not sleep, although the peer reads nothing", "",
                        ByteTransports) {
  using namespace corelane::testing;
  if (!can_run<TestType>()) return;
  StreamHarness<TestType> harness;
  const std::string text = pattern(beyond_any_socket_buffer);
  const auto sleeps = [] {
    rusage used{};
    getrusage(RUSAGE_THREAD, &used);
    return used.ru_nvcsw;
  };
  const std::string function = GENERATE("send", "send_by", "send_if_room");
  CAPTURE(function);
  const auto attempt = [&](const ConnectionPtr& end) {
    if (function == "send") return send(end, text);
    if (function == "send_by") return send_by(end, corelane::Time{}, text);
    return send_if_room(end, corelane::os::now(), text);
  };
  bool slept = true;
  for (int trial = 0; slept && trial < 20; ++trial) {  // now and then it waits for a lock
    const auto [caller, called] = harness.connect();
    const long before = sleeps();
    REQUIRE(attempt(caller));
    slept = sleeps() != before;
  }
  CHECK_FALSE(slept);
}

TEMPLATE_LIST_TEST_CASE("a sender that waits with the rest of a long message in vain has sent all of it", "",
                        ByteTransports) {
  using namespace corelane::testing;
  using namespace std::chrono_literals;
  if (!can_run<TestType>()) return;
  StreamHarness<TestType> harness({.backlog = 64 * 1024});
  const auto [caller, called] = harness.connect();
  const std::string text = pattern(beyond_any_socket_buffer);
  REQUIRE(send_if_room(caller, corelane::os::now() + 1ms, text));
  CHECK(send_if_room(caller, corelane::never, "no room").error().minor == corelane::minor::no_send_room);
  CHECK((read(called, text.size()) == text));
}

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

TEMPLATE_LIST_TEST_CASE("only a sender that may not wait is closed where its peer holds too much", "", ByteTransports) {
  using namespace corelane::testing;
  using corelane::transport::MemoryBudget;
  if (!can_run<TestType>()) return;
  const auto budget =
      std::make_shared<MemoryBudget>(MemoryBudget::bounds_of(beyond_any_socket_buffer, 1, std::chrono::seconds{1}));
  StreamHarness<TestType> harness({.memory = budget});
  const auto [deaf, hoarder] = harness.connect();  // the server has the accepting ends
  const auto [called, caller] = harness.connect();
  const std::string text = pattern(beyond_any_socket_buffer / 2);
  REQUIRE(send(caller, text));
  corelane::Expected<void> result;
  while (result) result = send(hoarder, text);  // bound: the socket's buffers and the budget are finite
  CHECK(result.error().kind == corelane::ErrorKind::transient);
  CHECK(result.error().minor == corelane::minor::send_backlogs);
  CHECK_FALSE(hoarder->is_open());
  CHECK((read(called, text.size()) == text));
  REQUIRE(send(caller, "still here"));
  CHECK(read(called, 10) == "still here");
  while (budget->used() > 0) std::this_thread::yield();
}

TEMPLATE_LIST_TEST_CASE("senders that may wait do so where their peer holds too much, and it gets all", "",
                        ByteTransports) {
  using namespace corelane::testing;
  using corelane::transport::MemoryBudget;
  if (!can_run<TestType>()) return;
  const auto budget = std::make_shared<MemoryBudget>(MemoryBudget::bounds_of(200'000, 1, std::chrono::seconds{1}));
  StreamHarness<TestType> harness({.memory = budget});
  const auto [called, caller] = harness.connect();
  constexpr int messages = 6;
  const std::string text = pattern(beyond_any_socket_buffer / 4);
  const std::jthread sender([&] {
    for (int i = 0; i < messages; ++i) {
      const corelane::Bytes bytes = bytes_of(text);
      std::uint64_t position = 0;
      if (!caller->send_by(corelane::never, std::span<const corelane::Bytes>{&bytes, 1}, position)) FAIL("not sent");
    }
  });
  for (int i = 0; i < messages; ++i) CHECK((read(called, text.size()) == text));
  while (budget->used() > 0) std::this_thread::yield();
}

TEMPLATE_LIST_TEST_CASE("a message longer than the backlog's bound goes when nothing waits before it", "",
                        ByteTransports) {
  using namespace corelane::testing;
  if (!can_run<TestType>()) return;
  StreamHarness<TestType> harness({.backlog = 1000});
  const auto [caller, called] = harness.connect();
  const std::string text = pattern(beyond_any_socket_buffer);
  REQUIRE(send(caller, text));
  CHECK((read(called, text.size()) == text));
}

TEMPLATE_LIST_TEST_CASE("senders that may wait wait for a slow reader, which gets all of it", "", ByteTransports) {
  using namespace corelane::testing;
  if (!can_run<TestType>()) return;
  StreamHarness<TestType> harness({.backlog = 100'000});
  const auto [caller, called] = harness.connect();
  constexpr std::size_t senders = 4, size = 40'000;  // the backlog's bound holds two such messages
  constexpr std::size_t messages = beyond_any_socket_buffer / size / senders;
  std::vector<std::jthread> threads;
  for (std::size_t s = 0; s < senders; ++s)
    threads.emplace_back([end = caller, letter = static_cast<char>('a' + s)] {
      const std::string message(size, letter);
      for (std::size_t m = 0; m < messages; ++m) CHECK(send_by(end, corelane::never, message));
    });
  for (std::size_t m = 0; m < messages * senders; ++m) {
    const std::string message = read(called, size);
    REQUIRE(message.size() == size);
    if (message != std::string(size, message.front())) FAIL("message " << m << " holds bytes of another sender");
  }
  CHECK(caller->is_open());
}

TEMPLATE_LIST_TEST_CASE("a sender that may wait leaves room for those that may not, and sends nothing when it is late",
                        "", ByteTransports) {
  using namespace corelane::testing;
  using namespace std::chrono_literals;
  if (!can_run<TestType>()) return;
  StreamHarness<TestType> harness({.backlog = 100'000});
  const auto [caller, called] = harness.connect();
  const std::string text = pattern(20'000);
  std::string sent;
  corelane::Expected<void> result;
  // Bound: the socket's buffers and half of the backlog are finite.
  for (; (result = send_by(caller, corelane::Time{}, text)); sent += text) continue;
  CHECK(result.error().kind == corelane::ErrorKind::timeout);
  CHECK(result.error().minor == corelane::minor::no_send_room);
  const corelane::Time until = corelane::os::now() + 5ms;
  CHECK(send_by(caller, until, text).error() == result.error());
  CHECK(send_if_room(caller, corelane::never, text).error() == result.error());
  CHECK(corelane::os::now() >= until);
  REQUIRE(send(caller, text));
  sent += text;
  CHECK((read(called, sent.size()) == sent));
  REQUIRE(send_by(caller, corelane::Time{}, "direct again"));
  CHECK(read(called, 12) == "direct again");
}

TEMPLATE_LIST_TEST_CASE("a peer that takes nothing while a sender waits for room is closed", "", ByteTransports) {
  using namespace corelane::testing;
  using namespace std::chrono_literals;
  if (!can_run<TestType>()) return;
  StreamHarness<TestType> harness({.backlog = 100'000, .backlog_timeout = 20ms});
  const auto [caller, called] = harness.connect();
  const auto collector = std::make_shared<Collector>();
  caller->watch(collector);
  const std::string text = pattern(40'000);
  corelane::Expected<void> result;
  while (result) result = send_by(caller, corelane::never, text);  // bound: as above
  CHECK(result.error().kind == corelane::ErrorKind::transient);
  CHECK(result.error().minor == corelane::minor::send_stalled);
  CHECK(collector->closed.take().minor == corelane::minor::send_stalled);
}

TEMPLATE_LIST_TEST_CASE("a sender that waits for room learns of the connection's end", "", ByteTransports) {
  using namespace corelane::testing;
  if (!can_run<TestType>()) return;
  StreamHarness<TestType> harness({.backlog = 100'000});
  auto [caller, called] = harness.connect();
  const std::string text = pattern(40'000);
  while (send_by(caller, corelane::Time{}, text)) continue;  // bound: as above
  const bool by_peer = GENERATE(true, false);
  std::vector<std::jthread> threads;
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([&text, end = caller] {
      corelane::Expected<void> result;
      while (result) result = send_by(end, corelane::never, text);  // bound: the connection ends
      CHECK(result.error().kind == corelane::ErrorKind::comm_failure);
    });
  by_peer ? called.reset() : caller->close();
}

TEMPLATE_LIST_TEST_CASE("sending to a peer that has gone fails without a signal", "", ByteTransports) {
  using namespace corelane::testing;
  if (!can_run<TestType>()) return;
  StreamHarness<TestType> harness;
  auto [caller, called] = harness.connect();
  called.reset();
  corelane::Expected<void> result;
  // Bound: the first one makes the peer refuse, and then sending fails.
  while (result) result = send(caller, "x");
  CHECK(result.error().kind == corelane::ErrorKind::comm_failure);
  CHECK(result.error().minor == corelane::minor::connection_lost);
}

TEMPLATE_LIST_TEST_CASE("a peer that takes nothing is given up by the thread that looks, but not before its time", "",
                        ByteTransports) {
  using namespace corelane::testing;
  using namespace std::chrono_literals;
  if (!can_run<TestType>()) return;
  StreamHarness<TestType> harness({.backlog = 64 * 1024, .backlog_timeout = 50ms});
  const auto [called, caller] = harness.connect();
  caller->close_if_stalled(corelane::Time{});  // nothing waits, so it does nothing
  CHECK(caller->is_open());
  const std::string text = pattern(beyond_any_socket_buffer);
  const corelane::Time begun = corelane::os::now();
  REQUIRE(send(caller, text));
  CHECK(send_by(caller, corelane::Time{}, "x").error().minor == corelane::minor::no_send_room);
  caller->close_if_stalled(corelane::os::now() + 1h);
  CHECK(caller->is_open());
  while (caller->is_open()) caller->close_if_stalled(begun);
  CHECK(corelane::os::now() >= begun + 50ms);
  CHECK(send(caller, "x").error().minor == corelane::minor::send_stalled);
}
