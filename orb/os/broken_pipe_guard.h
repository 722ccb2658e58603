// BrokenPipeGuard: while it lives, a write of this thread to a pipe or a socket that nobody reads fails with EPIPE, and
// SIGPIPE does not end the process. For code that writes in a process whose signals are not its own to configure.
//
// Threads: made and destroyed on one thread, the last made first. It touches this thread's SIGPIPE alone. A SIGPIPE
// that was pending before stays pending; one that came meanwhile is taken. At most five system calls.
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
