// Tests what keeps adaptive waits from taking cores that others need.
#include "orb/os/wait/spin_limit.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <iostream>
#include <list>
#include <thread>
#include <utility>

#include "orb/os/clock.h"
#include "orb/os/wait/wait.h"
#include "orb/os/wait/wait_loop.h"

namespace spin_limit_test {

using namespace corelane;
using namespace corelane::os;
using namespace std::chrono_literals;

namespace {

constexpr Time start{1s};

}  // namespace

TEST_CASE("all usable cores but one may spin, and one thread of a process that is bound to one core") {
  CHECK(spinner_limit(16, 16, {}) == 15);
  CHECK(spinner_limit(2, 16, {}) == 1);
  CHECK(spinner_limit(16, 16, 4) == 3);
  CHECK(spinner_limit(1, 16, {}) == 1);
  CHECK(spinner_limit(1, 16, 4) == 1);
  CHECK(spinner_limit(1, 1, {}) == 0);
  CHECK(spinner_limit(1, 16, 1) == 0);
  CHECK(spinner_limit(16, 16, 1) == 0);
}

TEST_CASE("as many threads as the limit allows have a permit at one time") {
  std::list<SpinPermit> permits;
  for (std::size_t i = 0; i < spinner_limit(); ++i) CHECK(permits.emplace_back().take());
  SpinPermit beyond;
  CHECK_FALSE(beyond.take());
  if (permits.empty()) return;
  CHECK(permits.front().take());  // it has a permit already, and takes no second one
  CHECK_FALSE(beyond.take());
  permits.pop_front();
  CHECK(beyond.take());
  beyond.give_back();
  beyond.give_back();
  SpinPermit next, one_more;
  CHECK(next.take());
  CHECK_FALSE(one_more.take());
}

TEST_CASE("permits that threads take at the same time are never more than there are") {
  std::atomic<std::size_t> spinners{0}, most{0};
  {
    std::list<std::jthread> threads;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([&] {
        for (int turn = 0; turn < 2000; ++turn) {
          SpinPermit permit;
          if (!permit.take()) continue;
          const std::size_t now = ++spinners;
          for (std::size_t seen = most; now > seen && !most.compare_exchange_weak(seen, now);) continue;
          --spinners;
        }
      });
  }
  CHECK(most <= spinner_limit());
}

TEST_CASE("a thread that lost its core does not spin for a hundred times as long, from 1 ms to 1 s") {
  SpinBackoff backoff;
  CHECK(backoff.may_spin(start));
  Time now = start;
  using Nanoseconds = std::chrono::nanoseconds;
  for (const auto& [lost, pause] : {std::pair<Nanoseconds, Nanoseconds>{1us, 1ms},
                                    {60us, 6ms},
                                    {3ms, 300ms},
                                    {9999us, 999900us},
                                    {10ms, 1s},
                                    {1h, 1s},
                                    {Duration::max(), 1s},
                                    {60us, 6ms}}) {
    backoff.lost_core(now, lost);
    CHECK_FALSE(backoff.may_spin(now));
    CHECK_FALSE(backoff.may_spin(now + pause - 1ns));
    CHECK(backoff.may_spin(now + pause));
    now += pause;
  }
}

TEST_CASE("an adaptive wait yields a few times before it sleeps where as many threads spin as may") {
  std::list<SpinPermit> others;
  for (std::size_t i = 0; i < spinner_limit(); ++i) REQUIRE(others.emplace_back().take());
  std::thread([] {  // each thread has its own backoff
    AdaptiveSpin learnt;
    int polls = 0;
    const bool came = wait_for(
        now() + 1h, {WaitMode::adaptive, 50us}, learnt, [&] { return ++polls, false; }, [](Time) { return true; },
        [] { return no_core; });
    CHECK(came);
    CHECK(polls >= 1);
    CHECK(polls <= 8);
  })
      .join();
}

TEST_CASE("an adaptive wait that only yields lets another thread spin") {
  if (spinner_limit() == 0) return;
  std::list<SpinPermit> others;
  for (std::size_t i = 1; i < spinner_limit(); ++i) REQUIRE(others.emplace_back().take());
  bool taken = false, kept_core = false;
  std::thread([&] {  // each thread has its own backoff
    for (int trial = 0; !kept_core && trial < 1000; ++trial) {
      spin_backoff() = {};
      AdaptiveSpin learnt;
      const auto poll = [&] {
        SpinPermit another;
        taken = another.take();
        return false;
      };
      CHECK(wait_for(
          now() + 1h, {WaitMode::adaptive, 50us}, learnt, poll, [](Time) { return true; }, [] { return no_core; }));
      kept_core = spin_backoff().may_spin(now());
    }
  })
      .join();
  if (kept_core) {
    CHECK(taken);
  } else {
    std::cout << "SKIPPED: other threads take the core all the time\n";
  }
}

TEST_CASE("an adaptive wait that lost its core neither spins nor yields") {
  std::thread([] {  // each thread has its own backoff
    spin_backoff().lost_core(now() + 1h, 1ms);
    AdaptiveSpin learnt;
    int polls = 0;
    CHECK(wait_for(
        now() + 1h, {WaitMode::adaptive, 50us}, learnt, [&] { return ++polls, false; }, [](Time) { return true; },
        [] { return no_core; }));
    CHECK(polls == 0);
  })
      .join();
}

TEST_CASE("an adaptive wait that lost its core stops spinning, and the next one sleeps at once") {
  if (spinner_limit() == 0) return;
  AdaptiveSpin learnt;
  int polls = 0;
  const auto lose_core = [&] {
    std::this_thread::sleep_for(1ms);  // sleep: as if another thread ran meanwhile
    return ++polls, false;
  };
  const auto wait = [&] {
    return wait_for(
        now() + 1h, {WaitMode::adaptive, 10ms}, learnt, lose_core, [](Time) { return true; }, [] { return no_core; });
  };
  std::thread([&] {  // each thread has its own backoff
    CHECK(wait());
    CHECK(polls == 1);
    CHECK(wait());  // it does not spin within 100 ms, or loses the core at the first poll
    CHECK(polls <= 2);
  })
      .join();
}

TEST_CASE("an adaptive wait notices that it lost its core even if the event came meanwhile") {
  if (spinner_limit() == 0) return;
  AdaptiveSpin learnt;
  const auto lose_core = [] {
    std::this_thread::sleep_for(1ms);  // sleep: as if another thread ran meanwhile
    return true;
  };
  std::thread([&] {  // each thread has its own backoff
    const Time before = now();
    CHECK(wait_for(
        before + 1h, {WaitMode::adaptive, 10ms}, learnt, lose_core, [](Time) { return true; }, [] { return no_core; }));
    CHECK_FALSE(spin_backoff().may_spin(before + 100ms));
  })
      .join();
}

TEST_CASE("where no thread may spin adaptive settles for park") {
  const WaitStrategy asked{WaitMode::adaptive, 7us};
  CHECK(settled(asked).mode == (spinner_limit() == 0 ? WaitMode::park : WaitMode::adaptive));
  CHECK(settled(asked).spin == 7us);
  for (const WaitMode mode : {WaitMode::park, WaitMode::spin, WaitMode::spin_then_park})
    CHECK(settled({mode, 7us}).mode == mode);
}

}  // namespace spin_limit_test
