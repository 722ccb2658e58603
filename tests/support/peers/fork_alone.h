// fork_alone() forks once no thread works on what earlier channels left (orb/os/threads/closer.h). Those threads end
// soon by themselves. If a process has several threads, a sanitizer does not let its forked child start one.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

#include "orb/os/threads/closer.h"

namespace corelane::testing {

inline bool gives_something_back() {
  std::error_code gone;
  for (std::filesystem::directory_iterator task("/proc/self/task", gone), end; !gone && task != end;
       task.increment(gone)) {
    std::ifstream file(task->path() / "comm");
    std::string name;
    if (std::getline(file, name) && (name == "corelane-unmap" || name == "corelane-closer")) return true;
  }
  return false;
}

inline void await_given_back() {
  os::Closer::of_descriptors().await();
  os::Closer::of_memory().await();
  while (gives_something_back()) ::usleep(1000);  // sleep: there is no event to wait for. Bound: what was handed over
}

inline pid_t fork_alone() {
  await_given_back();
  return ::fork();
}

}  // namespace corelane::testing
