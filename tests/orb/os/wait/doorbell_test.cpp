// Tests the doorbell: rings before, during and after a wait, and bytes of a stream beside it.
#include "orb/os/wait/doorbell.h"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <thread>

#include "orb/os/clock.h"

namespace doorbell_test {

using namespace corelane;
using namespace corelane::os;
using namespace std::chrono_literals;

namespace {

// A bell and a stream beside it.
struct Waiter {
  Waiter() {
    std::array<int, 2> ends{};
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) == 0);
    here.reset(ends[0]), there.reset(ends[1]);
    REQUIRE(bell.open());
  }
  void send(char byte) { REQUIRE(write(there.get(), &byte, 1) == 1); }
  void wait(bool beside, Time deadline, WaitStrategy strategy = {}) {
    beside ? bell.wait_beside(here.get(), deadline, strategy) : bell.wait(deadline, strategy);
  }

  Doorbell bell;
  Fd here, there;
};

WaitStrategy some_strategy() {
  return GENERATE(WaitStrategy{WaitMode::park}, WaitStrategy{WaitMode::spin},
                  WaitStrategy{WaitMode::spin_then_park, 20us}, WaitStrategy{WaitMode::adaptive, 50us});
}

}  // namespace

TEST_CASE("a ring before the wait is kept") {
  const bool beside = GENERATE(false, true);
  Waiter waiter;
  waiter.bell.ring();
  waiter.wait(beside, never);
}

TEST_CASE("a waiter is woken by a ring of another thread") {
  const bool beside = GENERATE(false, true);
  const WaitStrategy strategy = some_strategy();
  Waiter waiter;
  std::jthread ringer([&] { waiter.bell.ring(); });
  waiter.wait(beside, never, strategy);
}

TEST_CASE("a waiter is woken by bytes beside the bell, and by the end of their stream") {
  const WaitStrategy strategy = some_strategy();
  Waiter waiter;
  waiter.send('x');
  waiter.bell.wait_beside(waiter.here.get(), never, strategy);
  char byte = 0;
  REQUIRE(read(waiter.here.get(), &byte, 1) == 1);
  waiter.there.reset();
  waiter.bell.wait_beside(waiter.here.get(), never, strategy);
  CHECK(read(waiter.here.get(), &byte, 1) == 0);
}

TEST_CASE("a wait beside a silent stream ends at its deadline and not before") {
  Waiter waiter;
  const Time deadline = now() + 3ms;
  while (now() < deadline) waiter.bell.wait_beside(waiter.here.get(), deadline);  // bound: the clock
  waiter.bell.wait_beside(waiter.here.get(), Time{});
}

TEST_CASE("no ring is lost, whichever way the waiter waits") {
  constexpr int turns = 5'000;
  const WaitStrategy strategy = some_strategy();
  Waiter waiter;
  std::atomic<int> wanted{0}, seen{0};
  std::jthread ringer([&] {
    for (int i = 1; i <= turns; ++i) {
      wanted.store(i, std::memory_order_relaxed);  // relaxed: the bell publishes it
      waiter.bell.ring();
      // relaxed: a count. Bound: the waiter's next look
      while (seen.load(std::memory_order_relaxed) < i) std::this_thread::yield();
    }
  });
  for (int i = 0, last = 0; last < turns; ++i) {
    waiter.wait(i % 3 != 0, never, strategy);       // a lost ring hangs here
    last = wanted.load(std::memory_order_relaxed);  // relaxed: as above
    seen.store(last, std::memory_order_relaxed);    // relaxed: a count
  }
}

TEST_CASE("a bell may be opened while others ring it") {
  Doorbell bell;
  Waiter stream;
  std::atomic<bool> heard{false};
  std::jthread ringer([&] {
    while (!heard) bell.ring();  // bound: the wait below
  });
  bell.wait(never);
  REQUIRE(bell.open());
  bell.wait_beside(stream.here.get(), never);
  bell.wait_beside(stream.here.get(), never);
  heard = true;
}

}  // namespace doorbell_test
