// stop_process() stops a child process with all of its threads, before the test continues.
#pragma once

#include <signal.h>
#include <sys/wait.h>

namespace corelane::testing {

// Returns true once the kernel has stopped the process. Until then its other threads continue, even after SIGSTOP.
inline bool stop_process(pid_t child) {
  int status = 0;
  return kill(child, SIGSTOP) == 0 && waitpid(child, &status, WUNTRACED) == child && WIFSTOPPED(status);
}

}  // namespace corelane::testing
