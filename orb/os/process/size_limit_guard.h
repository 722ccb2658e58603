// SizeLimitGuard prevents SIGXFSZ from ending the process. While it lives, this thread's write beyond the limit of file
// sizes (ulimit -f) fails with EFBIG, like a write on a full disk. Use it in code that writes files in a process that
// it may not configure.
//
// Threads: construct and destroy it on one thread, in reverse order when nested. It touches only this thread's SIGXFSZ.
// Three system calls; none inside another guard of the same thread. So a thread that writes often, and runs only its
// own code, has one guard around everything.
#pragma once

#include <signal.h>

namespace corelane::os {

class SizeLimitGuard {
 public:
  SizeLimitGuard() noexcept;
  SizeLimitGuard(const SizeLimitGuard&) = delete;
  SizeLimitGuard& operator=(const SizeLimitGuard&) = delete;
  ~SizeLimitGuard();

 private:
  bool inner_ = false;
  bool was_blocked_ = false;
};

}  // namespace corelane::os
