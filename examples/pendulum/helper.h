// Helper runs a program that the demo starts and that runs until it is told to end: corelane-reserved or
// corelane-nameserver.
// Threads: one, which lasts as long as the helper; see os::ChildProcess.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "examples/pendulum/roles.h"
#include "orb/os/process/child_process.h"

namespace corelane::pendulum {

// Returns the options that begin with one of the prefixes, each with its value.
OrbOptions options_of(const std::vector<std::string>& prefixes, const OrbOptions& given);

class Helper {
 public:
  // `ready` waits until the program serves. It returns false if the program ended first or took too long.
  Helper(std::vector<std::string> command, std::function<bool(os::ChildProcess& program)> ready)
      : command_(std::move(command)), ready_(std::move(ready)) {}
  Helper(const Helper&) = delete;
  Helper& operator=(const Helper&) = delete;
  // Tells the program to end (SIGTERM), and waits until it has restored what it changed.
  ~Helper() { stop(); }

  // Returns whether the program serves. The program writes its errors to standard error.
  bool start();
  // Returns how the program ended by itself since start(). Returns this once.
  std::optional<os::ExitStatus> ended();
  void stop() noexcept;

  pid_t pid() const noexcept { return program_ ? program_->pid() : -1; }  // -1: it does not run

 private:
  const std::vector<std::string> command_;
  const std::function<bool(os::ChildProcess& program)> ready_;
  std::optional<os::ChildProcess> program_;
};

}  // namespace corelane::pendulum
