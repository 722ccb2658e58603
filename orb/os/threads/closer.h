// Closer releases resources on an ordinary thread, so that no thread that others wait for has to do it. It closes
// descriptors, because another process may decide how long a close takes. It unmaps large memory, which the kernel does
// page by page. If a real-time thread frees memory that connections wait for, the thread for memory notifies them
// (transport::MemoryBudget).
//
// Threads: any, also real-time ones. take() holds a short lock with priority inheritance and starts a thread if none
// runs. The thread ends when nothing is left. A child of fork() unmaps memory at once.
#pragma once

#include <array>
#include <condition_variable>
#include <cstddef>
#include <optional>

#include "orb/base/thread_safety.h"
#include "orb/os/pi_mutex.h"

namespace corelane::os {

class Closer {
 public:
  struct Task {
    void (*run)(const Task&) noexcept = nullptr;
    int fd = -1;
    void* base = nullptr;
    std::size_t size = 0;
  };

  // Return the process's closers. Each has a thread of its own, so that a slow descriptor does not delay memory.
  static Closer& of_descriptors() noexcept;
  static Closer& of_memory() noexcept;

  // Returns false if there is no room or no thread, or for memory in a child of fork().
  bool take(const Task& task) noexcept;
  // Blocks until everything that was handed over is released. For tests.
  void await() noexcept;

 private:
  struct All;
  explicit Closer(const char* name) noexcept : name_(name) {}
  bool start() noexcept CORELANE_REQUIRES(mutex_);
  static void* run(void* self) noexcept;
  std::optional<Task> next() noexcept;

  const char* const name_;
  PiMutex mutex_;  // priority inheritance: real-time threads hand over to an ordinary thread
  std::array<Task, 1024> tasks_ CORELANE_GUARDED_BY(mutex_);
  std::size_t first_ CORELANE_GUARDED_BY(mutex_) = 0;
  std::size_t count_ CORELANE_GUARDED_BY(mutex_) = 0;
  bool runs_ CORELANE_GUARDED_BY(mutex_) = false;
  bool closed_ CORELANE_GUARDED_BY(mutex_) = false;  // refuses everything
  std::condition_variable_any idle_;
};

// Unmaps like munmap(). Large ranges go to Closer::of_memory(), which unmaps them slice by slice, so that a real-time
// thread on its core waits for one slice at most. Small ranges are unmapped at once.
void unmap(void* base, std::size_t size) noexcept;

}  // namespace corelane::os
