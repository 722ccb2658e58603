#include "orb/os/files/file_room.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>

#include <cerrno>

#include "orb/os/process/size_limit_guard.h"

namespace corelane::os {

bool take_room(const Fd& file, off_t begin, off_t length) noexcept {
  const SizeLimitGuard guard;  // first: its destructor runs after the other signals are unblocked
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int fault = EINTR;
  while (fault == EINTR) fault = posix_fallocate(file.get(), begin, length);  // bound: stops and freezers
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = fault;
  return fault == 0;
}

}  // namespace corelane::os
