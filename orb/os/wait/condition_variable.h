// ConditionVariable is a std::condition_variable for os::Mutex. Annotate a predicate that reads guarded fields:
//
//   os::UniqueLock lock(mutex_);
//   changed_.wait(lock, [this]() CORELANE_REQUIRES(mutex_) { return ended_; });
//
// The analysis takes the mutex for held throughout the wait. For os::PiMutex, use std::condition_variable_any.
// Threads: any.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "orb/os/lock.h"
#include "orb/os/mutex.h"

namespace corelane::os {

class ConditionVariable {
 public:
  void notify_one() noexcept { condition_.notify_one(); }
  void notify_all() noexcept { condition_.notify_all(); }

  template <typename Predicate>
  void wait(UniqueLock<Mutex>& lock, Predicate predicate) {
    Borrowed borrowed(lock);
    condition_.wait(borrowed.lock, std::move(predicate));
  }
  // Return what the predicate returned at last.
  template <typename Rep, typename Period, typename Predicate>
  bool wait_for(UniqueLock<Mutex>& lock, std::chrono::duration<Rep, Period> time, Predicate predicate) {
    Borrowed borrowed(lock);
    return condition_.wait_for(borrowed.lock, time, std::move(predicate));
  }
  template <typename Clock, typename Duration, typename Predicate>
  bool wait_until(UniqueLock<Mutex>& lock, std::chrono::time_point<Clock, Duration> until, Predicate predicate) {
    Borrowed borrowed(lock);
    return condition_.wait_until(borrowed.lock, until, std::move(predicate));
  }

 private:
  // The caller's lock, in the form that std::condition_variable takes. It gives the mutex back locked.
  struct Borrowed {
    explicit Borrowed(UniqueLock<Mutex>& own) : lock(own.mutex_.mutex_, std::adopt_lock) {}
    Borrowed(const Borrowed&) = delete;
    Borrowed& operator=(const Borrowed&) = delete;
    ~Borrowed() { lock.release(); }
    std::unique_lock<std::mutex> lock;
  };

  std::condition_variable condition_;
};

}  // namespace corelane::os
