// PiMutex: a mutex whose holder inherits the priority of whoever waits for it, so that a real-time thread waits at most
// for the critical section and never for the threads between. For std::lock_guard and std::unique_lock.
// Threads: any. Uncontended it costs one atomic operation each way; critical sections under it stay short.
#pragma once

#include <pthread.h>

namespace corelane::os {

class PiMutex {
 public:
  PiMutex() noexcept;
  PiMutex(const PiMutex&) = delete;
  PiMutex& operator=(const PiMutex&) = delete;
  ~PiMutex() { pthread_mutex_destroy(&mutex_); }

  void lock() noexcept;
  bool try_lock() noexcept;
  void unlock() noexcept;

 private:
  pthread_mutex_t mutex_;
};

}  // namespace corelane::os
