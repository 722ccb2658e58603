// SizeLimitGuard: as long as it lives, a write of this thread beyond the limit of file sizes (ulimit -f) fails with
// EFBIG, as one on a full disk fails, and SIGXFSZ does not end the process. For whoever writes files in a process that
// is not his own to configure.
//
// Threads: made and destroyed on one, the last made first; of signals it touches this thread's SIGXFSZ alone. Three
// system calls; inside another one of the same thread none, so a thread that writes often, and that runs nobody else's
// code, has one around all.
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
