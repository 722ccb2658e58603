// Runs a piece of a test in a namespace of processes of its own, in the test's cpuset: what looks through /proc there
// sees nobody else. All that it started ends with it. Threads: the calling process has one.
#pragma once

#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <exception>
#include <functional>
#include <string>

#include "tests/services/reserved/live_cpusets.h"

namespace corelane::testing {

namespace detail {

inline bool enter_namespace(const LiveCpusets& at) {
  LiveCpusets::enter(at);
  return unshare(CLONE_NEWPID | CLONE_NEWNS) == 0;
}

inline bool mount_own_proc() {
  return mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) == 0;
}

inline std::string run_guarded(const std::function<std::string()>& body) {
  if (!mount_own_proc()) return "no /proc of its own";
  try {
    return body();
  } catch (const std::exception& failure) {
    return std::string("threw: ") + failure.what();
  }
}

}  // namespace detail

// What the body returns: what was wrong there, "" for nothing. No assertion of the test framework counts inside.
inline std::string run_inside(const LiveCpusets& at, const std::function<std::string()>& body) {
  int ends[2];
  if (pipe(ends) != 0) return "no pipe";
  const pid_t keeper = fork();
  if (keeper == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (!detail::enter_namespace(at)) _exit(97);
    const pid_t first = fork();  // process 1 of the namespace
    if (first == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      const std::string text = detail::run_guarded(body) + ".";
      (void)!write(ends[1], text.data(), text.size());
      _exit(0);
    }
    close(ends[1]);
    waitpid(first, nullptr, 0);
    _exit(0);
  }
  close(ends[1]);
  std::string text;
  char part[512];
  for (ssize_t count = 0; (count = read(ends[0], part, sizeof part)) > 0;)
    text.append(part, static_cast<std::size_t>(count));
  close(ends[0]);
  waitpid(keeper, nullptr, 0);
  if (!text.ends_with('.')) return "the namespace could not be made, or what ran there was killed: " + text;
  text.pop_back();
  return text;
}

}  // namespace corelane::testing
