// Closer: gives back, on an ordinary thread, what nobody who is waited for should give back himself: descriptors whose
// closing takes as long as somebody else wants, and memory of some size, which the kernel unmaps page by page. The
// thread for memory also tells connections of room for them where a real-time thread made it (transport::MemoryBudget).
//
// Threads: any, real-time ones too: a short lock with priority inheritance, and a thread is started where none runs. It
// ends when there is nothing left. A child of fork() unmaps memory at once.
#pragma once

#include <array>
#include <condition_variable>
#include <cstddef>
#include <optional>

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

  // The process's own, each with a thread of its own: a descriptor keeps no memory waiting.
  static Closer& of_descriptors() noexcept;
  static Closer& of_memory() noexcept;

  // False: there is no room, or no thread; or this is a child of fork(), and it is about memory.
  bool take(const Task& task) noexcept;
  // Until all that was handed over is given back. For tests.
  void await() noexcept;

 private:
  struct All;
  explicit Closer(const char* name) noexcept : name_(name) {}
  bool start() noexcept;
  static void* run(void* self) noexcept;
  std::optional<Task> next() noexcept;

  const char* const name_;
  PiMutex mutex_;  // real-time threads hand over what an ordinary one closes
  // Guarded by mutex_.
  std::array<Task, 1024> tasks_;
  std::size_t first_ = 0, count_ = 0;
  bool runs_ = false;
  bool closed_ = false;  // takes nothing any more
  std::condition_variable_any idle_;
};

// munmap(): of what is large by Closer::of_memory(), slice by slice, so that a real-time thread of its core waits for
// one slice at most; of what is small at once.
void unmap(void* base, std::size_t size) noexcept;

}  // namespace corelane::os
