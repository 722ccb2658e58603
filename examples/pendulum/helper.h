// Helper: a program that the demo starts and that runs until it is told to end: corelane-reserved, corelane-nameserver.
// Threads: as os::ChildProcess: one, which lasts as long as the helper.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "examples/pendulum/roles.h"
#include "orb/os/child_process.h"

namespace corelane::pendulum {

// Those of the options, each with its value, that begin with one of the prefixes.
OrbOptions options_of(const std::vector<std::string>& prefixes, const OrbOptions& given);

class Helper {
 public:
  // `ready` waits until the program serves; false: it ended first, or took too long.
  Helper(std::vector<std::string> command, std::function<bool(os::ChildProcess& program)> ready)
      : command_(std::move(command)), ready_(std::move(ready)) {}
  Helper(const Helper&) = delete;
  Helper& operator=(const Helper&) = delete;
  // Tells it to end (SIGTERM), and waits until it has put everything back.
  ~Helper() { stop(); }

  // Whether it serves. What it says of a failure is on standard error.
  bool start();
  // How it ended by itself since start(); told once.
  std::optional<os::ExitStatus> ended();
  void stop() noexcept;

  pid_t pid() const noexcept { return program_ ? program_->pid() : -1; }  // -1: it does not run

 private:
  const std::vector<std::string> command_;
  const std::function<bool(os::ChildProcess& program)> ready_;
  std::optional<os::ChildProcess> program_;
};

}  // namespace corelane::pendulum
