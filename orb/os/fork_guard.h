// ForkGuard: a child of fork() finds out that what it inherited belongs to its parent.
//
// Threads: any; while one lives no other thread need know of it. What the child asks is one load.
#pragma once

namespace corelane::os {

// As long as one lives this process works with threads, sockets and shared memory that no child of it can use.
class ForkGuard {
 public:
  ForkGuard() noexcept;
  ~ForkGuard();
  ForkGuard(const ForkGuard&) = delete;
  ForkGuard& operator=(const ForkGuard&) = delete;
};

// Whether this process was forked from one, or one of one, that had a ForkGuard at that moment.
bool is_guarded_child() noexcept;

}  // namespace corelane::os
