#include "orb/os/fd.h"

#include <unistd.h>

namespace corelane::os {

void Fd::reset(int fd) noexcept {
  // EINTR is no reason to try again: Linux has released the descriptor by then, and its number may be another's.
  if (fd_ >= 0) ::close(fd_);
  fd_ = fd;
}

}  // namespace corelane::os
