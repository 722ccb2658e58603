#include "orb/os/process/standard_descriptors.h"

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
    // open() takes the lowest free number, which is this one, because those below are open by now. Children inherit it,
    // like the standard ones. It is opened for the other direction, so that reads and writes still fail and nothing is
    // lost silently.
    (void)open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY);  // if it fails, nothing has changed
  }
}

// A handler and not SIG_IGN, because ignored signals stay ignored in programs that this one starts.
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
  return "standard output did not take everything: it is closed, or its disk is full; open it, or free space there";
}

}  // namespace corelane::os
