#include "orb/transport/memory_wait.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>

using namespace corelane;
using namespace corelane::transport;
using namespace std::chrono_literals;

namespace memory_wait_test {

TEST_CASE("connections enter the queue once, in the order of their numbers") {
  MemoryWait::Queue queue;
  std::uint64_t last = 0;
  MemoryWait one(nullptr), other(nullptr);
  CHECK_FALSE(one.is_queued());
  one.enter(queue, last);
  other.enter(queue, last);
  one.enter(queue, last);
  CHECK(queue.size() == 2);
  CHECK(last == 2);
  CHECK(one.order() == 1);
  CHECK(other.order() == 2);
  CHECK(one.leave(queue));
  CHECK_FALSE(one.leave(queue));
  CHECK_FALSE(one.is_queued());
  CHECK(queue.size() == 1);
  one.enter(queue, last);
  CHECK(one.order() == 3);
  CHECK(one.leave(queue));
  CHECK(other.leave(queue));
  CHECK(queue.empty());
}

TEST_CASE("a refusal counts from the first one, inside of the queue and outside of it") {
  MemoryWait::Queue queue;
  std::uint64_t last = 0;
  MemoryWait wait(nullptr);
  CHECK_FALSE(wait.is_refused());
  wait.refuse(Time{1s});
  wait.enter(queue, last);
  CHECK(wait.leave(queue));
  wait.refuse(Time{2s});
  CHECK(wait.is_refused());
  CHECK(wait.refused_since() == Time{1s});
  wait.end_refusal();
  CHECK_FALSE(wait.is_refused());
  wait.refuse(Time{3s});
  CHECK(wait.refused_since() == Time{3s});
}

}  // namespace memory_wait_test
