// Tests the annotated locks, with both mutexes.
#include "orb/os/lock.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <mutex>
#include <thread>

#include "orb/base/thread_safety.h"
#include "orb/os/mutex.h"
#include "orb/os/pi_mutex.h"

using namespace corelane;
using namespace corelane::os;

namespace {

// Returns whether another thread can lock the mutex now.
template <typename Mutex>
bool is_free(Mutex& mutex) {
  bool locked = false;
  std::thread([&] {
    if (!mutex.try_lock()) return;
    const LockGuard lock(mutex, std::adopt_lock);
    locked = true;
  }).join();
  return locked;
}

}  // namespace

TEMPLATE_TEST_CASE("a guard holds the mutex until the end of its scope", "", Mutex, PiMutex) {
  TestType mutex;
  {
    const LockGuard lock(mutex);
    CHECK_FALSE(is_free(mutex));
  }
  CHECK(is_free(mutex));
}

TEMPLATE_TEST_CASE("a guard unlocks the mutex that the caller has locked", "", Mutex, PiMutex) {
  TestType mutex;
  {
    mutex.lock();
    const LockGuard lock(mutex, std::adopt_lock);
    CHECK_FALSE(is_free(mutex));
  }
  CHECK(is_free(mutex));
}

TEMPLATE_TEST_CASE("a unique lock can be released and taken again", "", Mutex, PiMutex) {
  TestType mutex;
  {
    UniqueLock lock(mutex);
    CHECK_FALSE(is_free(mutex));
    lock.unlock();
    CHECK(is_free(mutex));
    lock.lock();
    CHECK_FALSE(is_free(mutex));
  }
  CHECK(is_free(mutex));
}

TEMPLATE_TEST_CASE("a unique lock that was released does not unlock again", "", Mutex, PiMutex) {
  TestType mutex;
  {
    UniqueLock lock(mutex);
    lock.unlock();
  }
  CHECK(is_free(mutex));
}

TEMPLATE_TEST_CASE("a released lock frees the mutex until the end of its scope", "", Mutex, PiMutex) {
  TestType mutex;
  const LockGuard lock(mutex);
  {
    const ReleasedLock released(mutex);
    CHECK(is_free(mutex));
  }
  CHECK_FALSE(is_free(mutex));
}

TEMPLATE_TEST_CASE("a released lock takes the mutex again after an exception", "", Mutex, PiMutex) {
  TestType mutex;
  const LockGuard lock(mutex);
  try {
    const ReleasedLock released(mutex);
    throw 1;
  } catch (int) {
    CHECK_FALSE(is_free(mutex));
  }
}

TEST_CASE("readers hold a shared mutex together, and a writer waits for them") {
  SharedMutex mutex;
  std::atomic<bool> wrote{false};
  std::thread writer;
  {
    const SharedLock first(mutex);
    std::thread([&] { const SharedLock second(mutex); }).join();  // would wait forever if readers excluded each other
    writer = std::thread([&] {
      const LockGuard lock(mutex);
      wrote = true;
    });
    CHECK_FALSE(wrote);
  }
  writer.join();
  CHECK(wrote);
}
