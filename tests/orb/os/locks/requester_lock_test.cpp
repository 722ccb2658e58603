// Tests RequesterLock on the real kernel. basic_requester_lock_test.cpp tests all orders of its steps.
#include "orb/os/locks/requester_lock.h"

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <cstdint>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "orb/base/sanitizer.h"
#include "orb/os/lock.h"
#include "orb/os/locks/light_wait.h"
#include "orb/os/thread.h"
#include "orb/os/threads/thread_state.h"
#include "tests/support/peers/fork_alone.h"

using namespace corelane;
using namespace corelane::os;

namespace requester_lock_test {
namespace {

constexpr int sections = CORELANE_THREAD_SANITIZER != 0 ? 500 : 5'000;

// A number that a lock guards.
struct Guarded {
  explicit Guarded(int threshold) : lock(threshold) {}

  void add() {
    const LockGuard guard(lock);
    ++value;
  }

  RequesterLock lock;
  long value CORELANE_GUARDED_BY(lock) = 0;
};

// Waits until so many threads wait for the lock.
void await_requesters(const RequesterLock& lock, int count) {
  while (lock.requesters() != count) std::this_thread::yield();
}

}  // namespace

TEST_CASE("a requester lock excludes threads from each other, at every threshold") {
  const int threshold = GENERATE(0, 1, 4, 31);
  const int threads = GENERATE(1, 2, 9);
  Guarded guarded(threshold);
  std::vector<std::thread> crowd;
  for (int i = 0; i < threads; ++i)
    crowd.emplace_back([&] {
      for (int section = 0; section < sections; ++section) guarded.add();
    });
  for (std::thread& thread : crowd) thread.join();
  const LockGuard guard(guarded.lock);
  CHECK(guarded.value == static_cast<long>(threads) * sections);
  CHECK(guarded.lock.requesters() == 0);
}

bool tried(RequesterLock& lock) {
  if (!lock.try_lock()) return false;
  lock.unlock();
  return true;
}

TEST_CASE("an attempt on a requester lock succeeds only while it is free") {
  RequesterLock lock;
  bool taken = true;
  lock.lock();
  std::thread([&] { taken = tried(lock); }).join();
  CHECK_FALSE(taken);
  lock.unlock();
  std::thread([&] { taken = tried(lock); }).join();
  CHECK(taken);
}

TEST_CASE("the requesters of a lock are the threads that wait") {
  RequesterLock lock(0);
  std::vector<std::thread> waiters;
  lock.lock();
  CHECK(lock.requesters() == 0);
  for (int i = 1; i <= 3; ++i) {
    waiters.emplace_back([&] { const LockGuard guard(lock); });
    await_requesters(lock, i);
  }
  CHECK(lock.requesters() == 3);
  lock.unlock();
  for (std::thread& waiter : waiters) waiter.join();
  CHECK(lock.requesters() == 0);
}

TEST_CASE("real-time and ordinary threads share a requester lock") {
  Guarded guarded(1);
  bool was_real_time = true;
  std::vector<Thread> crowd;
  for (int i = 0; i < 4; ++i) {
    auto thread = start_thread({.name = "requester", .fifo_priority = i % 2 == 0 ? 1 + i : 0}, [&guarded] {
      for (int section = 0; section < sections; ++section) guarded.add();
    });
    REQUIRE(thread);
    was_real_time = was_real_time && (i % 2 != 0 || thread->real_time());
    crowd.push_back(*std::move(thread));
  }
  crowd.clear();
  if (!was_real_time) WARN("SKIPPED: the system refuses SCHED_FIFO, so that all threads were ordinary");
  const LockGuard guard(guarded.lock);
  CHECK(guarded.value == 4L * sections);
}

TEST_CASE("a real-time thread waits in the kernel, and gets the lock before the ordinary waiters") {
  RequesterLock lock(0);
  std::vector<int> order;  // the lock guards it
  std::thread ordinary;
  std::optional<Thread> urgent;
  {
    const LockGuard held(lock);
    ordinary = std::thread([&] {
      const LockGuard guard(lock);
      order.push_back(0);
    });
    await_requesters(lock, 1);
    if (auto started = start_thread({.name = "urgent", .fifo_priority = 1}, [&] {
          const LockGuard guard(lock);
          order.push_back(1);
        })) {
      urgent = *std::move(started);
      await_requesters(lock, 2);
      while (!is_asleep(urgent->tid())) std::this_thread::yield();  // the requester is about to enter the kernel
    }
  }
  ordinary.join();
  REQUIRE(urgent);
  const bool real_time = urgent->real_time();
  urgent->join();
  REQUIRE(order.size() == 2);
  if (real_time)
    CHECK(order.front() == 1);
  else
    WARN("SKIPPED: the system refuses SCHED_FIFO");
}

TEST_CASE("the child of a fork can use a requester lock") {
  RequesterLock lock;
  lock.lock();  // the thread's number is known now
  lock.unlock();
  const pid_t child = corelane::testing::fork_alone();
  if (child == 0) {
    lock.lock();
    const bool excludes = !lock.try_lock();
    lock.unlock();
    _exit(excludes ? 0 : 1);
  }
  REQUIRE(child > 0);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("a light wait ends if the word has changed, and ends by itself") {
  if (!can_wait_lightly()) {
    WARN("SKIPPED: this processor has no UMWAIT");
    return;
  }
  const std::atomic<std::uint32_t> word{1};
  wait_lightly(word, 0);
  wait_lightly(word, 1);
  SUCCEED("both waits have ended");
}

}  // namespace requester_lock_test
