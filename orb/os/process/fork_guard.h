// ForkGuard lets a child of fork() detect that the objects it inherited belong to its parent.
//
// Threads: any. The check in the child is one load.
//
// The folder orb/os/process deals with what belongs to the whole process: signals, limits, forks, other processes.
#pragma once

#include <atomic>

namespace corelane::os {

// While a ForkGuard lives, this process uses threads, sockets and shared memory that a child cannot use.
class ForkGuard {
 public:
  ForkGuard() noexcept;
  ~ForkGuard();
  ForkGuard(const ForkGuard&) = delete;
  ForkGuard& operator=(const ForkGuard&) = delete;
};

extern constinit std::atomic<bool> guarded_child;  // of is_guarded_child(), set in the child

// Returns whether this process, or an ancestor, was forked while a ForkGuard lived.
inline bool is_guarded_child() noexcept {
  return guarded_child.load(std::memory_order_relaxed);  // relaxed: a child starts with what the forking thread saw
}

}  // namespace corelane::os
