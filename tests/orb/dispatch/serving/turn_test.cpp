#include "orb/dispatch/serving/turn.h"

#include <catch2/catch.hpp>
#include <thread>
#include <vector>

namespace turn_test {

using corelane::dispatch::Turn;

TEST_CASE("the maker of a connection has its turn, and no other thread gets it before it is given up") {
  Turn turn;
  CHECK_FALSE(turn.claim());
  turn.release();
  CHECK(turn.claim());
  CHECK_FALSE(turn.claim());
}

TEST_CASE("an upcall that ends in time keeps the turn") {
  Turn turn;
  CHECK(turn.upcall() == Turn::no_upcall);
  const Turn::Upcall seen = turn.begin_upcall();
  CHECK(turn.upcall() == seen);
  CHECK(seen != Turn::no_upcall);
  CHECK_FALSE(turn.claim());
  CHECK(turn.end_upcall(seen));
  CHECK(turn.upcall() == Turn::no_upcall);
  CHECK_FALSE(turn.take_over(seen));
}

TEST_CASE("an upcall that is taken over has lost the turn, and the next one is another") {
  Turn turn;
  const Turn::Upcall first = turn.begin_upcall();
  REQUIRE(turn.take_over(first));
  CHECK_FALSE(turn.take_over(first));
  turn.release();
  REQUIRE(turn.claim());
  const Turn::Upcall second = turn.begin_upcall();
  CHECK(second != first);
  CHECK_FALSE(turn.end_upcall(first));  // too late: another holder's upcall is running
  CHECK_FALSE(turn.take_over(first));
  CHECK(turn.end_upcall(second));
}

TEST_CASE("a holder that waits may be interrupted, and then has lost the turn") {
  Turn turn;
  CHECK_FALSE(turn.interrupt());
  turn.begin_wait();
  CHECK_FALSE(turn.claim());
  CHECK(turn.upcall() == Turn::no_upcall);
  CHECK(turn.end_wait());
  turn.begin_wait();
  CHECK(turn.interrupt());
  CHECK_FALSE(turn.interrupt());
  CHECK_FALSE(turn.end_wait());
}

// The holder of the turn counts without an atomic operation. So the test, or ThreadSanitizer, would see a second
// holder.
TEST_CASE("of the threads that run upcalls and take them over only one has the turn") {
  constexpr int rounds = 20'000;
  Turn turn;
  turn.release();
  int holds = 0, counted = 0;
  const auto use = [&] {
    CHECK(++holds == 1);
    ++counted;
    --holds;
  };
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 2; ++t)
      threads.emplace_back([&] {
        for (int done = 0; done < rounds;) {
          if (!turn.claim()) continue;
          ++done;
          const Turn::Upcall upcall = turn.begin_upcall();
          if (!turn.end_upcall(upcall)) continue;
          use();
          turn.release();
        }
      });
    threads.emplace_back([&](std::stop_token stop) {
      while (!stop.stop_requested()) {
        const Turn::Upcall upcall = turn.upcall();
        if (upcall == Turn::no_upcall || !turn.take_over(upcall)) continue;
        use();
        turn.release();
      }
    });
    threads[0].join();
    threads[1].join();
  }
  CHECK(counted == 2 * rounds);
}

}  // namespace turn_test
