// Tests what a real-time thread that spins leaves to other threads.
#include "orb/os/wait/spin_guard.h"

#include <sys/resource.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <iostream>

#include "orb/os/clock.h"
#include "orb/os/machine/cpu_mask.h"
#include "orb/os/thread.h"
#include "orb/os/threads/deadline_class.h"
#include "orb/os/wait/wait.h"

namespace spin_guard_test {

using namespace corelane;
using namespace corelane::os;
using namespace std::chrono_literals;

namespace {

constexpr Time start{1s};

// Returns a core that this process may use.
CoreId some_core() {
  CoreId core{0};
  while (!process_affinity().contains(core)) ++core.value;
  return core;
}

}  // namespace

TEST_CASE("a thread owes one part of rest for nineteen of work") {
  IdleDebt debt;
  debt.busy_until(start);
  CHECK(debt.owed() == 0us);
  debt.busy_until(start + 1900us);
  CHECK(debt.owed() == 100us);
  CHECK_FALSE(debt.must_rest());
  debt.busy_until(start + 9500us - 19ns);
  CHECK_FALSE(debt.must_rest());
  debt.busy_until(start + 9500us);
  CHECK(debt.must_rest());
  debt.rested_until(start + 9900us);
  CHECK(debt.owed() == 100us);
  CHECK_FALSE(debt.must_rest());
}

TEST_CASE("rest beyond the debt is not saved up") {
  IdleDebt debt;
  debt.busy_until(start);
  debt.busy_until(start + 19ms);
  debt.rested_until(start + 10s);
  CHECK(debt.owed() == 0us);
  debt.busy_until(start + 10s + 19us);
  CHECK(debt.owed() == 1us);
}

TEST_CASE("a long absence is not paid for by a long pause") {
  IdleDebt debt;
  debt.busy_until(start);
  debt.busy_until(start + 1h);
  CHECK(debt.owed() == IdleDebt::most);
}

TEST_CASE("spinning 20 s by these rules leaves 5 % idle") {
  IdleDebt debt;
  Duration rested{};
  Time now = start;
  debt.busy_until(now);
  while (now < start + 20s) {
    if (debt.must_rest()) {
      const Duration rest = debt.owed();
      now += rest, rested += rest;
      debt.rested_until(now);
    } else {
      now += 10us;
      debt.busy_until(now);
    }
  }
  CHECK(rested >= 999ms);
  CHECK(rested <= 1001ms);
}

TEST_CASE("only a real-time thread of one core must not spin for that core") {
  const auto [real_time, only, peer, allowed] = GENERATE(table<bool, int, int, bool>({
      {true, 1, 1, false},
      {true, 1, 2, true},
      {true, 1, -1, true},
      {true, -1, 1, true},
      {true, -1, -1, true},
      {false, 1, 1, true},
  }));
  const SpinnerClass spinner{.real_time = real_time, .only_core = CoreId{static_cast<std::int16_t>(only)}};
  CHECK(may_spin(spinner, CoreId{static_cast<std::int16_t>(peer)}) == allowed);
}

TEST_CASE("a thread knows its class and the one core that it may run on") {
  const CoreId core = some_core();
  const int priority = GENERATE(0, 2);
  SpinnerClass found;
  auto thread = start_thread({.core = core, .fifo_priority = priority}, [&] { found = spinner_class(now()); });
  REQUIRE(thread);
  const bool real_time = thread->real_time();
  thread->join();
  CHECK(found.real_time == real_time);
  CHECK(found.only_core == (real_time ? core : no_core));
}

TEST_CASE("a SCHED_DEADLINE thread is a real-time one, so it does not yield its budget while it waits") {
  DeadlineRefusal refusal{};
  SpinnerClass found;
  auto thread = start_thread({}, [&] {
    refusal = enter_deadline_class(gettid(), {10ms, 100ms});
    found = spinner_class(now());
  });
  REQUIRE(thread);
  thread->join();
  if (refusal != DeadlineRefusal::none) {
    std::cout << "SKIPPED: no SCHED_DEADLINE here\n";
    return;
  }
  CHECK(found.real_time);
}

TEST_CASE("a FIFO spinner lets a thread of its own core wake it") {
  const CoreId core = some_core();
  constexpr int rounds = 20;
  Parker ping, pong;
  Duration used{};
  auto peer = start_thread({.core = core}, [&] {
    for (int i = 0; i < rounds; ++i) ping.park(never), pong.unpark();
  });
  REQUIRE(peer);
  auto spinner = start_thread({.core = core, .fifo_priority = 2}, [&] {
    for (int i = 0; i < rounds; ++i) ping.unpark(), pong.park(never, {WaitMode::spin});
    used = thread_cpu_time();
  });
  REQUIRE(spinner);
  spinner->join();
  // Without the rule, each round takes as long as the kernel lets a real-time thread run: 950 ms.
  CHECK(used < 5s);
}

TEST_CASE("a FIFO spinner whose event never comes rests on the way to its deadline") {
  rusage used{};
  auto spinner = start_thread({.fifo_priority = 2}, [&] {
    Parker nobody;
    nobody.park(now() + 300ms, {WaitMode::spin});
    getrusage(RUSAGE_THREAD, &used);
  });
  REQUIRE(spinner);
  const bool real_time = spinner->real_time();
  spinner->join();
  if (!real_time) {
    std::cout << "SKIPPED: no SCHED_FIFO here\n";
    return;
  }
  CHECK(used.ru_nvcsw > 0);  // a thread that only spins makes no voluntary switch
}

}  // namespace spin_guard_test
