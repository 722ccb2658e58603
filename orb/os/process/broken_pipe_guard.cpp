#include "orb/os/process/broken_pipe_guard.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>

namespace corelane::os {
namespace {

sigset_t broken_pipe() noexcept {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGPIPE);
  return set;
}

bool is_pending() noexcept {
  sigset_t pending;
  return sigpending(&pending) == 0 && sigismember(&pending, SIGPIPE) == 1;
}

}  // namespace

BrokenPipeGuard::BrokenPipeGuard() noexcept {
  const sigset_t set = broken_pipe();
  sigset_t before;
  was_blocked_ = pthread_sigmask(SIG_BLOCK, &set, &before) != 0 || sigismember(&before, SIGPIPE) == 1;
  was_pending_ = was_blocked_ && is_pending();
}

// If the caller blocks SIGPIPE itself, it must not find a pending one that a write under this guard caused.
BrokenPipeGuard::~BrokenPipeGuard() {
  const int reason = errno;  // errno of the write
  const sigset_t set = broken_pipe();
  const timespec now{};
  if (!was_pending_ && is_pending())
    while (sigtimedwait(&set, nullptr, &now) < 0 && errno == EINTR) continue;
  if (!was_blocked_) pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
  errno = reason;
}

}  // namespace corelane::os
