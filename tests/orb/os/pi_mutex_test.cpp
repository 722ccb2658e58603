// Tests PiMutex where its word is not enough: waiting in the kernel, priority inheritance, children of fork().
// tests/orb/os/lock_test.cpp tests the rest, for both mutexes.
#include "orb/os/pi_mutex.h"

#include <pthread.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "orb/base/sanitizer.h"
#include "orb/base/thread_safety.h"
#include "orb/os/threads/thread_state.h"

using namespace corelane;
using namespace corelane::os;

namespace {

// Returns the effective priority of a thread as the kernel prints it: lower numbers are higher priorities.
int kernel_priority(pid_t thread) {
  const std::string path = "/proc/self/task/" + std::to_string(thread) + "/stat";
  std::FILE* const file = std::fopen(path.c_str(), "r");
  int priority = 1000;
  if (file == nullptr) return priority;
  (void)std::fscanf(file, "%*d (%*[^)]) %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %d", &priority);
  std::fclose(file);
  return priority;
}

}  // namespace

TEST_CASE("a thread that waits for a mutex gets it when the holder releases it") {
  PiMutex mutex;
  std::atomic<bool> waits{false};
  int guarded = 0;
  mutex.lock();
  std::jthread waiter([&] {
    waits.store(true, std::memory_order_release);  // PAIR test.waits: release here -> acquire below
    const std::lock_guard lock(mutex);
    ++guarded;
  });
  // PAIR test.waits: acquire here <- release above
  while (!waits.load(std::memory_order_acquire)) std::this_thread::yield();
  ++guarded;
  mutex.unlock();
  waiter.join();
  CHECK(guarded == 2);
  const bool is_free = mutex.try_lock();
  CHECK(is_free);
  if (is_free) mutex.unlock();
}

TEST_CASE("a thread that gets a mutex from the kernel may destroy it") {
  auto mutex = std::make_unique<PiMutex>();
  PiMutex& held = *mutex;
  held.lock();
  std::atomic<pid_t> waiting{0};
  std::jthread waiter([&waiting, mutex = std::move(mutex)]() mutable {
    waiting.store(gettid(), std::memory_order_release);  // PAIR test.waiting: release here -> acquire below
    mutex->lock();
    mutex->unlock();
    mutex.reset();  // the thread sanitizer checks that the other thread is done with it
  });
  // PAIR test.waiting: acquire here <- release above
  while (!is_asleep(waiting.load(std::memory_order_acquire))) std::this_thread::yield();
  held.unlock();
}

TEST_CASE("locking and unlocking keeps errno, also where threads wait") {
  PiMutex mutex;
  std::atomic<int> changed{0};
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([&] {
        for (int k = 0; k < 2000; ++k) {
          errno = ENOTTY;
          {
            const std::lock_guard lock(mutex);
            std::this_thread::yield();
          }
          if (errno != ENOTTY) changed.fetch_add(1, std::memory_order_relaxed);  // relaxed: read after the threads
        }
      });
  }
  CHECK(changed.load() == 0);
}

TEST_CASE("the holder of a mutex inherits the priority of a thread that waits for it") {
  const sched_param high{.sched_priority = 10};
  PiMutex mutex;
  mutex.lock();
  const pid_t holder = gettid();
  const int before = kernel_priority(holder);
  std::atomic<int> refused{-1};
  std::jthread waiter([&] {
    // PAIR test.refused: release here -> acquire below
    refused.store(pthread_setschedparam(pthread_self(), SCHED_FIFO, &high), std::memory_order_release);
    const std::lock_guard lock(mutex);
  });
  while (refused.load(std::memory_order_acquire) < 0) std::this_thread::yield();  // PAIR test.refused: acquire here
  if (refused.load() != 0) {
    mutex.unlock();
    WARN("SKIPPED: SCHED_FIFO is not granted");
    return;
  }
  // The waiter blocks soon. Bound: the time limit of the test.
  while (kernel_priority(holder) == before) std::this_thread::yield();
  CHECK(kernel_priority(holder) == -1 - high.sched_priority);
  mutex.unlock();
  waiter.join();
  CHECK(kernel_priority(holder) == before);
}

#if !CORELANE_THREAD_SANITIZER  // it supports no threads in a child of fork()
TEST_CASE("threads of a child of fork() lock mutexes under their own ids") {
  PiMutex mutex;
  mutex.lock();  // now the id of this thread is known
  mutex.unlock();
  const pid_t child = fork();
  if (child == 0) {
    // Another thread waits, so the kernel compares the id of the holder with that of the thread that unlocks.
    int guarded = 0;
    {
      std::vector<std::jthread> threads;
      for (int i = 0; i < 3; ++i)
        threads.emplace_back([&] {
          for (int k = 0; k < 500; ++k) {
            const std::lock_guard lock(mutex);
            ++guarded;
            std::this_thread::yield();
          }
        });
      for (int k = 0; k < 500; ++k) {
        const std::lock_guard lock(mutex);
        ++guarded;
        std::this_thread::yield();
      }
    }
    _exit(guarded == 2000 ? 0 : 1);
  }
  REQUIRE(child > 0);
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("locking a mutex whose holder has ended ends the process, whether or not a thread waited meanwhile") {
  const bool waits_meanwhile = GENERATE(false, true);
  const pid_t child = fork();
  if (child == 0) {
    (void)std::signal(SIGABRT, SIG_DFL);  // the test framework would report a failure
    PiMutex mutex;
    std::atomic<bool> held{false}, end{false};
    std::jthread holder([&]() CORELANE_NO_THREAD_SAFETY_ANALYSIS {  // it ends without releasing the mutex
      mutex.lock();
      held.store(true, std::memory_order_release);                             // PAIR test.held: release here
      while (!end.load(std::memory_order_acquire)) std::this_thread::yield();  // PAIR test.end: acquire here
    });
    while (!held.load(std::memory_order_acquire)) std::this_thread::yield();  // PAIR test.held: acquire here
    std::atomic<pid_t> waiting{0};
    std::jthread waiter([&]() CORELANE_NO_THREAD_SAFETY_ANALYSIS {
      waiting.store(gettid(), std::memory_order_release);  // PAIR test.waiting: release here
      if (waits_meanwhile) mutex.lock();
    });
    if (waits_meanwhile)
      // PAIR test.waiting: acquire here
      while (!is_asleep(waiting.load(std::memory_order_acquire))) std::this_thread::yield();
    end.store(true, std::memory_order_release);  // PAIR test.end: release here
    holder.join();
    mutex.lock();
    _exit(0);
  }
  REQUIRE(child > 0);
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGABRT);
}
#endif
