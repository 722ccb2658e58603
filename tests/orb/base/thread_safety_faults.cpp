// Breaks each kind of annotation once. A test compiles this file with clang and looks for the warnings.
#include <mutex>

#include "orb/base/thread_safety.h"
#include "orb/os/lock.h"
#include "orb/os/mutex.h"
#include "orb/os/wait/condition_variable.h"

using namespace corelane;

class Counter {
 public:
  // These functions keep the rules.
  int read() const {
    const os::LockGuard lock(mutex_);
    return value_;
  }
  void wait() CORELANE_EXCLUDES(mutex_) {
    os::UniqueLock lock(mutex_);
    changed_.wait(lock, [this]() CORELANE_REQUIRES(mutex_) { return value_ > 0; });
    lock.unlock();
    lock.lock();
    add();
  }
  void add_between_pauses() {
    const os::LockGuard lock(mutex_);
    add();
    {
      const os::ReleasedLock released(mutex_);
      wait();
    }
    add();
  }
  bool try_to_add() {
    if (!mutex_.try_lock()) return false;
    const os::LockGuard lock(mutex_, std::adopt_lock);
    add();
    return true;
  }

  // Each of these breaks one.
  int read_without_lock() const { return value_; }
  int read_after_unlock() {
    os::UniqueLock lock(mutex_);
    lock.unlock();
    return value_;
  }
  int read_in_pause() {
    const os::LockGuard lock(mutex_);
    const os::ReleasedLock released(mutex_);
    return value_;
  }
  void add_without_lock() { add(); }
  void wait_with_lock() {
    const os::LockGuard lock(mutex_);
    wait();
  }
  void forget_to_unlock() { mutex_.lock(); }
  void ignore_try_lock() {
    (void)mutex_.try_lock();
    value_ = 1;
  }

 private:
  void add() CORELANE_REQUIRES(mutex_) { ++value_; }

  mutable os::Mutex mutex_;
  os::ConditionVariable changed_;
  int value_ CORELANE_GUARDED_BY(mutex_) = 0;
};
