// PiMutex is a mutex with priority inheritance: its holder inherits the priority of the threads that wait for it. So a
// real-time thread waits at most for the critical section, and not for threads of intermediate priority. Lock it
// with os::LockGuard or os::UniqueLock (orb/os/lock.h), whose use clang checks.
// Threads: any. Without contention it costs one atomic operation to lock and one to unlock. Keep its critical sections
// short.
#pragma once

#include <pthread.h>

#include "orb/base/thread_safety.h"

namespace corelane::os {

class CORELANE_CAPABILITY("mutex") PiMutex {
 public:
  PiMutex() noexcept;
  PiMutex(const PiMutex&) = delete;
  PiMutex& operator=(const PiMutex&) = delete;
  ~PiMutex() { pthread_mutex_destroy(&mutex_); }

  void lock() noexcept CORELANE_ACQUIRE();
  bool try_lock() noexcept CORELANE_TRY_ACQUIRE(true);
  void unlock() noexcept CORELANE_RELEASE();

 private:
  pthread_mutex_t mutex_;
};

}  // namespace corelane::os
