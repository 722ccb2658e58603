#include "orb/os/fd.h"

#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace corelane::os {

void Fd::reset(int fd) noexcept {
  // Do not retry after EINTR: Linux has already released the descriptor, and another file may have its number.
  if (fd_ >= 0) ::close(fd_);
  fd_ = fd;
}

Fd made(int fd, const char* what) {
  if (fd < 0) throw std::system_error(errno, std::generic_category(), what);
  return Fd(fd);
}

}  // namespace corelane::os
