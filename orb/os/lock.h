// LockGuard, UniqueLock and SharedLock hold a mutex until the end of their scope, like those of the standard library.
// ReleasedLock releases one meanwhile. clang checks their use (orb/base/thread_safety.h): libstdc++ does not annotate
// its locks.
//
//   if (!mutex_.try_lock()) return;
//   const os::LockGuard lock(mutex_, std::adopt_lock);   // clang cannot check std::try_to_lock
//
// Threads: each lock belongs to one thread.
#pragma once

#include <mutex>

#include "orb/base/thread_safety.h"

namespace corelane::os {

template <typename Mutex>
class CORELANE_SCOPED_CAPABILITY LockGuard {
 public:
  explicit LockGuard(Mutex& mutex) CORELANE_ACQUIRE(mutex) : mutex_(mutex) { mutex_.lock(); }
  // Takes over a mutex that the caller has locked.
  LockGuard(Mutex& mutex, std::adopt_lock_t) CORELANE_REQUIRES(mutex) : mutex_(mutex) {}
  LockGuard(const LockGuard&) = delete;
  LockGuard& operator=(const LockGuard&) = delete;
  ~LockGuard() CORELANE_RELEASE() { mutex_.unlock(); }

 private:
  Mutex& mutex_;
};

// Holds a SharedMutex together with other readers.
template <typename Mutex>
class CORELANE_SCOPED_CAPABILITY SharedLock {
 public:
  explicit SharedLock(Mutex& mutex) CORELANE_ACQUIRE_SHARED(mutex) : mutex_(mutex) { mutex_.lock_shared(); }
  SharedLock(const SharedLock&) = delete;
  SharedLock& operator=(const SharedLock&) = delete;
  ~SharedLock() CORELANE_RELEASE() { mutex_.unlock_shared(); }

 private:
  Mutex& mutex_;
};

// A lock that can be released and taken again before the end of its scope. std::condition_variable_any waits with it.
template <typename Mutex>
class CORELANE_SCOPED_CAPABILITY UniqueLock {
 public:
  explicit UniqueLock(Mutex& mutex) CORELANE_ACQUIRE(mutex) : mutex_(mutex) { mutex_.lock(); }
  UniqueLock(const UniqueLock&) = delete;
  UniqueLock& operator=(const UniqueLock&) = delete;
  ~UniqueLock() CORELANE_RELEASE() {
    if (holds_) mutex_.unlock();
  }

  void lock() CORELANE_ACQUIRE() {
    mutex_.lock();
    holds_ = true;
  }
  void unlock() CORELANE_RELEASE() {
    holds_ = false;
    mutex_.unlock();
  }

 private:
  friend class ConditionVariable;

  Mutex& mutex_;
  bool holds_ = true;
};

// Releases a mutex that the caller holds, and takes it again at the end of the scope.
template <typename Mutex>
class CORELANE_SCOPED_CAPABILITY ReleasedLock {
 public:
  explicit ReleasedLock(Mutex& mutex) CORELANE_RELEASE(mutex) : mutex_(mutex) { mutex_.unlock(); }
  ReleasedLock(const ReleasedLock&) = delete;
  ReleasedLock& operator=(const ReleasedLock&) = delete;
  ~ReleasedLock() CORELANE_RELEASE() { mutex_.lock(); }

 private:
  Mutex& mutex_;
};

}  // namespace corelane::os
