#include "orb/os/standard_descriptors.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace corelane::os {

void hold_standard_descriptors() noexcept {
  for (int descriptor = STDIN_FILENO; descriptor <= STDERR_FILENO; ++descriptor) {
    if (fcntl(descriptor, F_GETFD) != -1 || errno != EBADF) continue;
    // The lowest free number, and so this one: those below are open by now. Inherited by children, as the standard ones
    // are.
    (void)open("/dev/null", O_RDWR);  // else the process is no worse off
  }
}

}  // namespace corelane::os
