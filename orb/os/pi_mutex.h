// PiMutex is a mutex with priority inheritance: its holder inherits the priority of the threads that wait for it. So a
// real-time thread waits at most for the critical section, and not for threads of intermediate priority. Works with
// std::lock_guard and std::unique_lock.
// Threads: any. Without contention it costs one atomic operation to lock and one to unlock. Keep its critical sections
// short.
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
