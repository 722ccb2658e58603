// BrokenPipeGuard prevents SIGPIPE from ending the process. While it lives, this thread's write to a pipe or socket
// without a reader fails with EPIPE. Use it in code that runs in a process whose signals it may not configure.
//
// Threads: construct and destroy it on one thread, in reverse order when nested. It touches only this thread's SIGPIPE.
// A SIGPIPE that was pending before stays pending; one that arrives meanwhile is consumed. At most five system calls.
#pragma once

#include <signal.h>

namespace corelane::os {

class BrokenPipeGuard {
 public:
  BrokenPipeGuard() noexcept;
  BrokenPipeGuard(const BrokenPipeGuard&) = delete;
  BrokenPipeGuard& operator=(const BrokenPipeGuard&) = delete;
  ~BrokenPipeGuard();

 private:
  bool was_blocked_ = false;
  bool was_pending_ = false;
};

}  // namespace corelane::os
