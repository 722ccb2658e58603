#include "orb/dispatch/serving/servant_gate.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <thread>
#include <vector>

#include "orb/base/sanitizer.h"

namespace servant_gate_test {

using namespace corelane;
using namespace corelane::dispatch;
using namespace std::chrono_literals;

namespace {

constexpr int sections = CORELANE_THREAD_SANITIZER != 0 ? 200 : 2'000;

void await_waiting(const ServantGate& gate, int count) {
  while (gate.waiting() != count) std::this_thread::yield();
}

}  // namespace

TEST_CASE("a gate without a limit lets all servants run") {
  ServantGate gate({}, 4);
  for (int i = 0; i < 100; ++i) gate.enter();
  CHECK(gate.limit() == 0);
}

TEST_CASE("no more servants run than the limit says, and none waits for ever") {
  const int limit = GENERATE(1, 2, 5);
  ServantGate gate({.most = limit}, 8);
  std::atomic<int> running{0}, most{0};
  std::vector<std::jthread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      for (int section = 0; section < sections; ++section) {
        gate.enter();
        const int now = ++running;
        for (int seen = most; now > seen && !most.compare_exchange_weak(seen, now);) continue;
        if (section % 16 == 0) std::this_thread::yield();
        --running;
        gate.leave();
      }
    });
  threads.clear();
  CHECK(most <= limit);
  CHECK(gate.waiting() == 0);
  CHECK(gate.limit() == limit);
}

TEST_CASE("a servant in a nested call leaves its place to another one, and comes back without waiting") {
  ServantGate gate({.most = 1}, 8);
  gate.enter();
  std::atomic<bool> may_end{false};
  std::jthread other([&] {
    gate.enter();
    while (!may_end) std::this_thread::yield();
    gate.leave();
  });
  await_waiting(gate, 1);
  gate.leave();  // the nested call begins
  await_waiting(gate, 0);
  gate.come_back();
  may_end = true;
  other.join();
  gate.leave();
  gate.enter();  // one place is free again
  gate.leave();
}

TEST_CASE("an open gate lets all that wait go on") {
  ServantGate gate({.most = 1}, 8);
  gate.enter();
  std::vector<std::jthread> threads;
  for (int i = 0; i < 3; ++i) threads.emplace_back([&gate] { gate.enter(); });
  await_waiting(gate, 3);
  gate.open();
  threads.clear();
  gate.enter();
  CHECK(gate.limit() == 0);
}

TEST_CASE("an automatic limit begins with all threads") {
  ServantGate gate({.is_automatic = true}, 3);
  CHECK(gate.limit() == 3);
  for (int i = 0; i < 3; ++i) gate.enter();
  for (int i = 0; i < 3; ++i) gate.leave();
}

TEST_CASE("a window has the time of its servants, those that ended, and the time that requests waited") {
  ServantMeter meter;
  meter.begin(Time{1s});
  CHECK_FALSE(meter.count(Time{1s + 4ms}, 2, false));
  meter.end_servant();
  const auto window = meter.count(Time{1s + 11ms}, 1, true);
  REQUIRE(window);
  CHECK(window->length == 11ms);
  CHECK(window->in_servants == 15ms);
  CHECK(window->ended == 1);
  CHECK(window->full == 7ms);
}

TEST_CASE("idle time is not measured") {
  ServantMeter meter;
  meter.begin(Time{1s});
  CHECK_FALSE(meter.count(Time{1s + 15ms}, 0, false));  // nothing ran
  CHECK_FALSE(meter.count(Time{1s + 20ms}, 1, false));
  CHECK_FALSE(meter.count(Time{1h}, 0, false));  // the window began with a servant
  CHECK_FALSE(meter.count(Time{1h + 9ms}, 1, false));
  const auto window = meter.count(Time{1h + 12ms}, 1, false);  // a new window, without what was before
  REQUIRE(window);
  CHECK(window->length == 12ms);
  CHECK(window->in_servants == 12ms);
}

}  // namespace servant_gate_test
