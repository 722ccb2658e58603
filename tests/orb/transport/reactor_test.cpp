// Tests the reactor's thread, its posts and its timers.
#include "orb/transport/reactor.h"

#include <catch2/catch.hpp>
#include <memory>
#include <thread>
#include <vector>

#include "orb/transport/detail/timer_queue.h"
#include "tests/support/stream_harness.h"

using namespace corelane;
using namespace corelane::testing;
using namespace std::chrono_literals;
using transport::Reactor;
using transport::TimerQueue;

namespace {

std::unique_ptr<Reactor> started() {
  auto reactor = Reactor::start();
  REQUIRE(reactor);
  return std::move(*reactor);
}

}  // namespace

TEST_CASE("posted functions run in their order on the reactor's thread") {
  const auto reactor = started();
  Mailbox<int> ran;
  for (int i = 0; i < 100; ++i) CHECK(reactor->post([&, i] { ran.put(reactor->on_reactor_thread() ? i : -1); }));
  for (int i = 0; i < 100; ++i) CHECK(ran.take() == i);
  CHECK_FALSE(reactor->on_reactor_thread());
}

TEST_CASE("timers run in the order of their times and not before") {
  const auto reactor = started();
  Mailbox<std::pair<int, Time>> ran;
  const Time start = os::now();
  reactor->post([&] {  // on the thread where timers run, so none runs before all are scheduled
    for (const int delay : {9, 1, 5, 3, 7})
      reactor->schedule(start + delay * 1ms, [&ran, delay] { ran.put({delay, os::now()}); });
  });
  for (const int delay : {1, 3, 5, 7, 9}) {
    const auto [which, when] = ran.take();
    CHECK(which == delay);
    CHECK(when >= start + delay * 1ms);
  }
}

TEST_CASE("a cancelled timer does not run") {
  const auto reactor = started();
  Mailbox<int> ran;
  const Time soon = os::now() + 2ms;
  const TimerId first = reactor->schedule(soon, [&] { ran.put(1); });
  CHECK(reactor->cancel(first));
  CHECK_FALSE(reactor->cancel(first));
  reactor->schedule(soon + 1ms, [&] { ran.put(2); });
  CHECK(ran.take() == 2);
}

TEST_CASE("a timer may schedule, cancel and post") {
  const auto reactor = started();
  Mailbox<int> ran;
  const TimerId doomed = reactor->schedule(os::now() + 1h, [&] { ran.put(-1); });
  reactor->schedule(os::now(), [&] {
    reactor->schedule(os::now() + 1ms, [&] { reactor->post([&] { ran.put(3); }); });
    ran.put(reactor->cancel(doomed) ? 1 : 0);
  });
  CHECK(ran.take() == 1);
  CHECK(ran.take() == 3);
}

TEST_CASE("a thousand timers from four threads all run") {
  const auto reactor = started();
  Mailbox<int> ran;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&] {
        for (int i = 0; i < 250; ++i) reactor->schedule(os::now() + i * 4us, [&] { ran.put(1); });
      });
  }
  int total = 0;
  for (int i = 0; i < 1000; ++i) total += ran.take();
  CHECK(total == 1000);
}

// Edges.

TEST_CASE("a time in the past runs at once and a time beyond all runs never") {
  const auto reactor = started();
  Mailbox<int> ran;
  const TimerId last = reactor->schedule(never, [&] { ran.put(-1); });
  reactor->schedule(Time{}, [&] { ran.put(1); });
  CHECK(ran.take() == 1);
  CHECK(reactor->cancel(last));
}

TEST_CASE("a function that was posted before the stop runs, and a later one is refused") {
  const auto reactor = started();
  int ran = 0;
  for (int i = 0; i < 100; ++i) reactor->post([&] { ++ran; });
  reactor->stop();
  reactor->stop();
  CHECK(ran == 100);
  CHECK_FALSE(reactor->post([&] { ++ran; }));
  CHECK(reactor->schedule(os::now(), [&] { ++ran; }) == TimerId{0});
  CHECK(ran == 100);
}

TEST_CASE("a timer that waits at the stop is dropped with what it holds") {
  const auto reactor = started();
  auto held = std::make_shared<int>(1);
  reactor->schedule(os::now() + 1h, [held] {});
  CHECK(held.use_count() == 2);
  reactor->stop();
  CHECK(held.use_count() == 1);
}

TEST_CASE("timers of one time leave the queue in the order they came") {
  TimerQueue queue;
  std::vector<int> order;
  CHECK(queue.first() == never);
  CHECK(queue.add(Time{2s}, [&] { order.push_back(2); }).is_first);
  CHECK(queue.add(Time{1s}, [&] { order.push_back(0); }).is_first);
  CHECK_FALSE(queue.add(Time{1s}, [&] { order.push_back(1); }).is_first);
  CHECK(queue.first() == Time{1s});
  CHECK_FALSE(queue.take_due(Time{1s} - 1ns));
  for (auto f = queue.take_due(Time{2s}); f; f = queue.take_due(Time{2s})) (*f)();
  CHECK(order == std::vector{0, 1, 2});
}

// Error paths.

TEST_CASE("a reactor on a core that does not exist does not start") {
  CHECK_FALSE(Reactor::start({.thread = {.name = "nowhere", .core = CoreId{8191}}}));
}
