#include "orb/os/standard_descriptors.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <iostream>

namespace corelane::os {

void hold_standard_descriptors() noexcept {
  for (int descriptor = STDIN_FILENO; descriptor <= STDERR_FILENO; ++descriptor) {
    if (fcntl(descriptor, F_GETFD) != -1 || errno != EBADF) continue;
    // The lowest free number, and so this one: those below are open by now. Inherited by children, as the standard ones
    // are. For the other direction: what is read or written fails as it did, and is not lost without a word.
    (void)open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY);  // else the process is no worse off
  }
}

// A handler, since what is ignored stays ignored in programs that this one starts.
void outlive_readers() noexcept {
  struct sigaction before {};
  if (sigaction(SIGPIPE, nullptr, &before) != 0 || before.sa_handler != SIG_DFL) return;
  struct sigaction action {};
  action.sa_handler = [](int) {};
  action.sa_flags = SA_RESTART;
  sigaction(SIGPIPE, &action, nullptr);
}

std::string output_fault() {
  if (std::cout.flush() && std::ferror(stdout) == 0) return "";
  return "standard output did not take everything; is it closed, or its disk full?";
}

}  // namespace corelane::os
