// in_child() runs a function in a child of fork().
#pragma once

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/peers/fork_alone.h"

namespace corelane::testing {

// Runs `work` in a child, which exits with 0 if that returns true, with 1 if it returns false, and with 2 if it throws.
// Ends the child after a minute. Returns the child's wait status, or -1 if there is none.
template <typename Work>
int in_child(const Work& work) {
  const pid_t child = fork_alone();
  if (child == 0) try {
      ::signal(SIGALRM, SIG_DFL);
      ::alarm(60);  // ends this process if it waits in vain
      ::_exit(work() ? 0 : 1);
    } catch (...) {
      ::_exit(2);
    }
  int status = -1;
  return child > 0 && ::waitpid(child, &status, 0) == child ? status : -1;
}

}  // namespace corelane::testing
