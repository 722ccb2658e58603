// Runs a part of a test in a new PID namespace, in the test's cpuset. There /proc shows only the processes of the
// namespace. All that it started ends with it.
// Threads: the calling process has one.
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

// The result of run_inside() begins with this text if the system does not allow such a namespace.
inline const std::string cannot = "cannot: ";

namespace detail {

inline constexpr int no_namespace = 97;

inline bool enter_namespace(const LiveCpusets& at) {
  LiveCpusets::enter(at);
  return unshare(CLONE_NEWPID | CLONE_NEWNS) == 0;
}

// Mounts a new /proc over the existing one, invisible outside.
inline bool mount_own_proc() {
  return mount("none", "/proc", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) == 0;
}

inline std::string run_guarded(const std::function<std::string()>& body) {
  if (!mount_own_proc()) return cannot + "no /proc of its own can be mounted here";
  try {
    return body();
  } catch (const std::exception& failure) {
    return std::string("threw: ") + failure.what();
  }
}

}  // namespace detail

// Returns the result of the body: what was wrong there, or "". Assertions of the test framework do not work inside.
inline std::string run_inside(const LiveCpusets& at, const std::function<std::string()>& body) {
  int ends[2];
  if (pipe(ends) != 0) return "no pipe";
  const pid_t keeper = fork();
  if (keeper == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (!detail::enter_namespace(at)) _exit(detail::no_namespace);
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
  int status = 0;
  waitpid(keeper, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == detail::no_namespace)
    return cannot + "no namespace of processes can be made here";
  if (!text.ends_with('.')) return "what ran there was killed: " + text;
  text.pop_back();
  return text;
}

}  // namespace corelane::testing
