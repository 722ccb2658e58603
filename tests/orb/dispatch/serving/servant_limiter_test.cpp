#include "orb/dispatch/serving/servant_limiter.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <thread>
#include <vector>

#include "orb/base/sanitizer.h"

namespace servant_limiter_test {

using namespace corelane;
using namespace corelane::dispatch;
using namespace std::chrono_literals;

namespace {

constexpr int sections = CORELANE_THREAD_SANITIZER != 0 ? 200 : 2'000;

void await_waiting(const ServantLimiter& limiter, int count) {
  while (limiter.waiting() != count) std::this_thread::yield();
}

}  // namespace

TEST_CASE("a limiter without a limit lets all servants run") {
  ServantLimiter limiter({}, 4);
  for (int i = 0; i < 100; ++i) limiter.enter();
  CHECK(limiter.limit() == 0);
}

TEST_CASE("no more servants run than the limit says, and none waits for ever") {
  const int limit = GENERATE(1, 2, 5);
  ServantLimiter limiter({.most = limit}, 8);
  std::atomic<int> running{0}, most{0};
  std::vector<std::jthread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      for (int section = 0; section < sections; ++section) {
        limiter.enter();
        const int now = ++running;
        for (int seen = most; now > seen && !most.compare_exchange_weak(seen, now);) continue;
        if (section % 16 == 0) std::this_thread::yield();
        --running;
        limiter.leave();
      }
    });
  threads.clear();
  CHECK(most <= limit);
  CHECK(limiter.waiting() == 0);
  CHECK(limiter.limit() == limit);
}

TEST_CASE("a servant that does not wait takes a free permit only") {
  ServantLimiter unlimited({}, 4), limiter({.most = 1}, 4);
  CHECK(unlimited.try_enter());
  CHECK(unlimited.try_enter());
  CHECK(limiter.try_enter());
  CHECK_FALSE(limiter.try_enter());
  limiter.leave();
  CHECK(limiter.try_enter());
  limiter.lift();
  CHECK(limiter.try_enter());
}

TEST_CASE("a servant in a nested call leaves its permit to another one, and comes back without waiting") {
  ServantLimiter limiter({.most = 1}, 8);
  limiter.enter();
  std::atomic<bool> may_end{false};
  std::jthread other([&] {
    limiter.enter();
    while (!may_end) std::this_thread::yield();
    limiter.leave();
  });
  await_waiting(limiter, 1);
  limiter.leave();  // the nested call begins
  await_waiting(limiter, 0);
  limiter.come_back();
  may_end = true;
  other.join();
  limiter.leave();
  limiter.enter();  // one permit is free again
  limiter.leave();
}

TEST_CASE("a limit that is lifted lets all that wait go on") {
  ServantLimiter limiter({.most = 1}, 8);
  limiter.enter();
  std::vector<std::jthread> threads;
  for (int i = 0; i < 3; ++i) threads.emplace_back([&limiter] { limiter.enter(); });
  await_waiting(limiter, 3);
  limiter.lift();
  threads.clear();
  limiter.enter();
  CHECK(limiter.limit() == 0);
}

TEST_CASE("an automatic limit begins with all threads") {
  ServantLimiter limiter({.is_automatic = true}, 3);
  CHECK(limiter.limit() == 3);
  for (int i = 0; i < 3; ++i) limiter.enter();
  for (int i = 0; i < 3; ++i) limiter.leave();
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

}  // namespace servant_limiter_test
