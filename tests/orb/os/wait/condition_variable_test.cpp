// Tests waits for a condition under os::Mutex.
#include "orb/os/wait/condition_variable.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <stdexcept>
#include <thread>

#include "orb/base/thread_safety.h"
#include "orb/os/lock.h"
#include "orb/os/mutex.h"

using namespace corelane;
using namespace corelane::os;

namespace {

// A flag that one thread sets and another waits for.
struct Flag {
  void set() {
    {
      const LockGuard lock(mutex);
      is_set = true;
    }
    changed.notify_all();
  }
  // Return the flag after the wait.
  bool wait() {
    UniqueLock lock(mutex);
    changed.wait(lock, [this]() CORELANE_REQUIRES(mutex) { return is_set; });
    return is_set;
  }
  template <typename Time>
  bool wait_for(Time time) {
    UniqueLock lock(mutex);
    return changed.wait_for(lock, time, [this]() CORELANE_REQUIRES(mutex) { return is_set; });
  }
  template <typename Time>
  bool wait_until(Time time) {
    UniqueLock lock(mutex);
    return changed.wait_until(lock, time, [this]() CORELANE_REQUIRES(mutex) { return is_set; });
  }
  void wait_and_throw() {
    UniqueLock lock(mutex);
    changed.wait(lock, []() -> bool { throw std::runtime_error("the predicate fails"); });
  }

  Mutex mutex;
  ConditionVariable changed;
  bool is_set CORELANE_GUARDED_BY(mutex) = false;
};

}  // namespace

TEST_CASE("a wait ends when another thread sets the condition") {
  Flag flag;
  std::thread setter([&] { flag.set(); });
  CHECK(flag.wait());
  setter.join();
}

TEST_CASE("a wait with a limit ends early when another thread sets the condition") {
  Flag flag;
  std::thread setter([&] { flag.set(); });
  CHECK(flag.wait_for(std::chrono::hours{1}));
  CHECK(flag.wait_until(std::chrono::steady_clock::now() + std::chrono::hours{1}));
  setter.join();
}

TEST_CASE("a wait that reaches its limit returns false and holds the mutex") {
  Flag flag;
  CHECK_FALSE(flag.wait_for(std::chrono::milliseconds{1}));
  CHECK_FALSE(flag.wait_until(std::chrono::steady_clock::now()));
  flag.set();  // would block if a wait had left the mutex locked
  CHECK(flag.wait());
}

TEST_CASE("a predicate that throws leaves the mutex to its lock") {
  Flag flag;
  CHECK_THROWS_AS(flag.wait_and_throw(), std::runtime_error);
  flag.set();
  CHECK(flag.wait());
}
