// Mutex is a std::mutex whose use clang checks (orb/base/thread_safety.h): libstdc++ does not annotate std::mutex. Lock
// it with os::LockGuard or os::UniqueLock, and wait with os::ConditionVariable. Threads: any that need no bound on how
// long they wait. Threads with deadlines use PiMutex.
#pragma once

#include <mutex>
#include <shared_mutex>

#include "orb/base/thread_safety.h"

namespace corelane::os {

class CORELANE_CAPABILITY("mutex") Mutex {
 public:
  void lock() CORELANE_ACQUIRE() { mutex_.lock(); }
  bool try_lock() noexcept CORELANE_TRY_ACQUIRE(true) { return mutex_.try_lock(); }
  void unlock() noexcept CORELANE_RELEASE() { mutex_.unlock(); }

 private:
  friend class ConditionVariable;

  std::mutex mutex_;
};

// Several readers, or one writer.
class CORELANE_CAPABILITY("mutex") SharedMutex {
 public:
  void lock() CORELANE_ACQUIRE() { mutex_.lock(); }
  void unlock() noexcept CORELANE_RELEASE() { mutex_.unlock(); }
  void lock_shared() CORELANE_ACQUIRE_SHARED() { mutex_.lock_shared(); }
  void unlock_shared() noexcept CORELANE_RELEASE_SHARED() { mutex_.unlock_shared(); }

 private:
  std::shared_mutex mutex_;
};

}  // namespace corelane::os
