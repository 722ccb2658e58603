#include "orb/os/process/size_limit_guard.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>

#include <utility>

namespace corelane::os {
namespace {

thread_local bool is_guarded = false;

sigset_t exceeded() noexcept {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGXFSZ);
  return set;
}

}  // namespace

SizeLimitGuard::SizeLimitGuard() noexcept : inner_(std::exchange(is_guarded, true)) {
  if (inner_) return;
  const sigset_t set = exceeded();
  sigset_t before;
  was_blocked_ = pthread_sigmask(SIG_BLOCK, &set, &before) != 0 || sigismember(&before, SIGXFSZ) == 1;
}

// Consumes a signal that arrived meanwhile, so that it is not delivered now. Preserves the write's errno.
SizeLimitGuard::~SizeLimitGuard() {
  if (inner_) return;
  is_guarded = false;
  if (was_blocked_) return;
  const int reason = errno;
  const sigset_t set = exceeded();
  const timespec now{};
  while (sigtimedwait(&set, nullptr, &now) < 0 && errno == EINTR) continue;
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
  errno = reason;
}

}  // namespace corelane::os
