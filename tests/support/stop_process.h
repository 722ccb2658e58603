// Stops a child process, all of its threads, before the test goes on.
#pragma once

#include <signal.h>
#include <sys/wait.h>

namespace corelane::testing {

// True once the kernel has stopped it: until then its other threads go on, after SIGSTOP too.
inline bool stop_process(pid_t child) {
  int status = 0;
  return kill(child, SIGSTOP) == 0 && waitpid(child, &status, WUNTRACED) == child && WIFSTOPPED(status);
}

}  // namespace corelane::testing
