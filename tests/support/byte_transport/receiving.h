// Part of the suite of tests/support/byte_transport_suite.h: the bytes, and a thread that waits for them.
#pragma once

#include <poll.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <stdexcept>
#include <thread>

#include "tests/support/byte_transport/common.h"

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

namespace corelane::testing {

// Interrupts the thread that creates it by a signal every 10 ms, until destruction.
class Interruptions {
 public:
  Interruptions() {
    struct sigaction nothing {};
    nothing.sa_handler = [](int) {};
    sigaction(SIGUSR1, &nothing, &before_);
    sigevent at_thread{};
    at_thread.sigev_notify = SIGEV_THREAD_ID;
    at_thread.sigev_signo = SIGUSR1;
    at_thread._sigev_un._tid = gettid();
    const itimerspec often{.it_interval = {0, 10'000'000}, .it_value = {0, 10'000'000}};
    if (timer_create(CLOCK_MONOTONIC, &at_thread, &timer_) != 0 || timer_settime(timer_, 0, &often, nullptr) != 0)
      throw std::runtime_error("no timer");
  }
  Interruptions(const Interruptions&) = delete;
  Interruptions& operator=(const Interruptions&) = delete;
  ~Interruptions() {
    timer_delete(timer_);
    sigaction(SIGUSR1, &before_, nullptr);
  }

 private:
  struct sigaction before_ {};
  timer_t timer_{};
};

}  // namespace corelane::testing

TEMPLATE_LIST_TEST_CASE("a receiver that signals interrupt all the time ends at its deadline", "", ByteTransports) {
  using namespace corelane::testing;
  if (!can_run<TestType>()) return;
  StreamHarness<TestType> harness;
  const auto [caller, called] = harness.connect();
  const Interruptions interruptions;
  // Long enough for a wait in recv.
  const corelane::Time deadline = corelane::os::now() + std::chrono::milliseconds{1200};
  const auto result = receive(caller, deadline);
  REQUIRE_FALSE(result);
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
  REQUIRE(read(called, 1) == "a");  // so the rest has come as well
  const auto result = receive(called, corelane::Time{}, strategy);
  REQUIRE(result);
  CHECK(*result == 1);
}

TEMPLATE_LIST_TEST_CASE("polling reads find what comes, and the end", "", ByteTransports) {
  using namespace corelane::testing;
  if (!can_run<TestType>()) return;
  StreamHarness<TestType> harness;
  auto [caller, called] = harness.connect();
  std::byte buffer[64];
  const auto found = [&, &end = *called] {
    auto got = end.poll_receive(buffer);
    // bound: something comes
    while (!got && got.error().kind == corelane::ErrorKind::timeout) got = end.poll_receive(buffer);
    return got;
  };
  CHECK(called->poll_receive(buffer).error().minor == corelane::minor::deadline_passed);
  REQUIRE(send(caller, "x"));
  CHECK(*found() == 1);
  caller.reset();
  CHECK(*found() == 0);
}

TEMPLATE_LIST_TEST_CASE("bytes that are taken tell when they came", "", ByteTransports) {
  using namespace corelane::testing;
  if (!can_run<TestType>()) return;
  StreamHarness<TestType> harness;
  const auto [caller, called] = harness.connect();
  std::array<std::byte, 16> buffer;
  CHECK(called->take(buffer).error().kind == corelane::ErrorKind::timeout);
  const corelane::Time before = corelane::os::now();
  REQUIRE(send(caller, "abc"));
  pollfd readable{.fd = called->descriptor(), .events = POLLIN, .revents = 0};
  REQUIRE(poll(&readable, 1, -1) == 1);
  const auto arrival = called->take(buffer);
  REQUIRE(arrival);
  CHECK(arrival->count == 3);
  CHECK(arrival->at >= before);
  CHECK(arrival->at <= corelane::os::now());
}

TEMPLATE_LIST_TEST_CASE("an armed descriptor tells of bytes that are there already and of bytes that come", "",
                        ByteTransports) {
  using namespace corelane::testing;
  if (!can_run<TestType>()) return;
  const bool armed_before = GENERATE(true, false);
  StreamHarness<TestType> harness;
  const auto [caller, called] = harness.connect();
  for (int round = 0; round < 3; ++round) {
    REQUIRE(send(caller, "waited for"));
    CHECK(read(called, 10) == "waited for");
    if (armed_before) called->arm_descriptor();
    REQUIRE(send(caller, "polled for"));
    if (!armed_before) called->arm_descriptor();
    pollfd readable{.fd = called->descriptor(), .events = POLLIN, .revents = 0};
    REQUIRE(poll(&readable, 1, 60'000) == 1);
    CHECK(*receive(called, corelane::Time{}) == 10);
  }
}

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
