// Tests with corelane-reserved on cpusets of this kernel, in a PID namespace of the test. Threads: one.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <exception>
#include <functional>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/services/reserved/own_namespace.h"
#include "tests/services/reserved/running_daemon.h"

namespace corelane::testing {

// Collects what was wrong inside the namespace.
class Faults {
 public:
  void unless(bool good, const std::string& what) {
    if (!good) text_ += (text_.empty() ? "" : "; ") + what;
  }
  template <typename T>
  void differ(const T& found, const T& expected, const char* what) {
    std::ostringstream text;
    text << what << " is " << found << " and not " << expected;
    unless(found == expected, text.str());
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// Runs the body in a child process and returns its text.
inline std::string text_of_child(const std::function<std::string()>& body) {
  int ends[2];
  if (pipe(ends) != 0) return "no pipe";
  const pid_t child = fork();
  if (child == 0) {
    std::string text;
    try {
      text = body();
    } catch (const std::exception& failure) {
      text = failure.what();
    }
    (void)!write(ends[1], text.data(), text.size());
    _exit(0);
  }
  close(ends[1]);
  char text[1024];
  const ssize_t count = read(ends[0], text, sizeof text);
  close(ends[0]);
  waitpid(child, nullptr, 0);
  return {text, static_cast<std::size_t>(std::max<ssize_t>(count, 0))};
}

inline std::vector<std::string> options_of(const LiveCpusets& at) {
  return {"-ORBReservedRoot",       "/" + at.root, "-ORBReservedBackend", "cgroup-v1",
          "-ORBReservedInterrupts", "off",         "-ORBReservedKeep",    at.first()};
}

inline RunningDaemon daemon_of(const LiveCpusets& at) { return RunningDaemon(options_of(at)); }

// Runs the body inside. Skips the test if there are no such cpusets.
inline void check_inside(const std::function<std::string(const LiveCpusets&)>& body) {
  const LiveCpusets at;
  if (!at.missing().empty()) {
    std::cout << "SKIPPED: " << at.missing() << std::endl;
    return;
  }
  daemon_program();
  const std::string faults = run_inside(at, [&] { return body(at); });
  if (faults.starts_with(cannot))
    std::cout << "SKIPPED: " << faults << std::endl;
  else
    CHECK(faults == "");
}

}  // namespace corelane::testing
