// Tests waits: tokens, deadlines and strategies, and the clock of the deadlines.
#include "orb/os/wait/wait.h"

#include <catch2/catch.hpp>
#include <mutex>
#include <thread>
#include <vector>

#include "orb/os/clock.h"
#include "orb/os/pi_mutex.h"

using namespace corelane;
using namespace corelane::os;
using namespace std::chrono_literals;

namespace {

WaitStrategy any_strategy() {
  return GENERATE(WaitStrategy{WaitMode::park}, WaitStrategy{WaitMode::spin},
                  WaitStrategy{WaitMode::spin_then_park, 20us}, WaitStrategy{WaitMode::spin_then_park, 10s},
                  WaitStrategy{WaitMode::adaptive, 50us});
}

}  // namespace

TEST_CASE("a wake-up before the wait is kept") {
  const auto strategy = any_strategy();
  Parker parker;
  parker.unpark();
  CHECK(parker.park(never, strategy));
}

TEST_CASE("a waiter is woken by another thread") {
  const auto strategy = any_strategy();
  Parker parker;
  std::jthread waker([&] { parker.unpark(); });
  CHECK(parker.park(never, strategy));
}

TEST_CASE("a wait ends at its deadline and not before") {
  const auto strategy = any_strategy();
  Parker parker;
  const Time deadline = now() + 3ms;
  CHECK_FALSE(parker.park(deadline, strategy));
  CHECK(now() >= deadline);
}

TEST_CASE("two threads hand a plain counter to and fro through parkers") {
  const auto strategy = any_strategy();
  constexpr int turns = 2000;
  Parker ping, pong;
  int counter = 0;  // written by the thread that has the turn
  std::jthread other([&] {
    for (int i = 0; i < turns; ++i) {
      ping.park(never, strategy);
      ++counter;
      pong.unpark();
    }
  });
  for (int i = 0; i < turns; ++i) {
    ++counter;
    ping.unpark();
    pong.park(never, strategy);
  }
  CHECK(counter == 2 * turns);
}

// Edges.

TEST_CASE("two wake-ups are one token") {
  Parker parker;
  parker.unpark();
  parker.unpark();
  CHECK(parker.park(never));
  CHECK_FALSE(parker.park(now()));
}

TEST_CASE("a deadline in the past polls") {
  const auto strategy = any_strategy();
  Parker parker;
  CHECK_FALSE(parker.park(Time{}, strategy));
  parker.unpark();
  CHECK(parker.park(Time{}, strategy));
}

TEST_CASE("a parker that timed out can be woken again") {
  Parker parker;
  CHECK_FALSE(parker.park(now() + 1ms));
  parker.unpark();
  CHECK(parker.park(never));
}

TEST_CASE("a spinner stops at its budget and never beyond its deadline") {
  const Time start{1s};
  CHECK(spin_end({WaitMode::park}, start, never) == start);
  CHECK(spin_end({WaitMode::spin}, start, start + 5s) == start + 5s);
  CHECK(spin_end({WaitMode::spin_then_park, 2s}, start, start + 5s) == start + 2s);
  CHECK(spin_end({WaitMode::spin_then_park, 7s}, start, start + 5s) == start + 5s);
  CHECK(spin_end({WaitMode::spin_then_park, 2s}, start, start - 1s) == start);
  CHECK(spin_end({WaitMode::spin_then_park, 2s}, start, never) == start + 2s);
}

TEST_CASE("a way to wait has a name") {
  const auto [name, mode] =
      GENERATE(table<std::string, std::optional<WaitMode>>({{"spin", WaitMode::spin},
                                                            {"spin-then-park", WaitMode::spin_then_park},
                                                            {"adaptive", WaitMode::adaptive},
                                                            {"park", WaitMode::park},
                                                            {"", std::nullopt},
                                                            {"Spin", std::nullopt},
                                                            {"spin_then_park", std::nullopt}}));
  CHECK(parse_wait_mode(name) == mode);
}

TEST_CASE("the cost of a wake-up is measured once and within its bounds") {
  const Duration cost = wake_cost();
  CHECK(cost >= 1us);
  CHECK(cost <= 200us);
  CHECK(wake_cost() == cost);
}

TEST_CASE("a span of time is spelt in seconds and nanoseconds") {
  CHECK(to_timespec(Duration{1'500'000'007}).tv_sec == 1);
  CHECK(to_timespec(Duration{1'500'000'007}).tv_nsec == 500'000'007);
  CHECK(to_timespec(Duration{-1}).tv_sec == 0);
  CHECK(to_timespec(Duration{-1}).tv_nsec == 0);
}

TEST_CASE("nothing is left after a deadline and everything before none") {
  CHECK(left_until(Time{}) == Duration::zero());
  CHECK(left_until(never) == Duration::max());
  CHECK(left_until(now() + 1h) > 59min);
}

TEST_CASE("the clock of a thread counts its work and the clock of the system never goes back") {
  const Duration begin = thread_cpu_time();
  Time last = now();
  for (int i = 0; i < 10'000; ++i) {
    const Time next = now();
    if (next < last) FAIL("the clock went back");
    last = next;
  }
  CHECK(thread_cpu_time() > begin);
}

TEST_CASE("a priority-inheriting mutex excludes") {
  PiMutex mutex;
  int counter = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([&] {
        for (int k = 0; k < 5000; ++k) {
          const std::lock_guard lock(mutex);
          ++counter;
        }
      });
  }
  CHECK(counter == 20'000);
}

TEST_CASE("a held mutex cannot be taken by another thread") {
  PiMutex mutex;
  const std::lock_guard lock(mutex);
  bool taken = true;
  std::jthread([&] { taken = mutex.try_lock(); }).join();
  CHECK_FALSE(taken);
}
