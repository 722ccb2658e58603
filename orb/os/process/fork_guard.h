// ForkGuard lets a child of fork() detect that the objects it inherited belong to its parent.
//
// Threads: any. The check in the child is one load.
//
// The folder orb/os/process deals with what belongs to the whole process: signals, limits, forks, other processes.
#pragma once

namespace corelane::os {

// While a ForkGuard lives, this process uses threads, sockets and shared memory that a child cannot use.
class ForkGuard {
 public:
  ForkGuard() noexcept;
  ~ForkGuard();
  ForkGuard(const ForkGuard&) = delete;
  ForkGuard& operator=(const ForkGuard&) = delete;
};

// Returns whether this process, or an ancestor, was forked while a ForkGuard lived.
bool is_guarded_child() noexcept;

}  // namespace corelane::os
