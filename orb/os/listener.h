// Tells which process listens at a Unix socket, and whether that process is stopped.
// Threads: any.
#pragma once

#include <optional>
#include <span>
#include <string>

namespace corelane::os {

// Returns whether a signal or a debugger has stopped the process.
bool is_stopped(int pid);

// A process that listens at a Unix socket, but does not run.
struct StoppedListener {
  int pid;
  std::string path;
};
// Returns the first listener that is stopped. Connects to each path and closes again, without waiting. A listener of
// another pid namespace is not recognized.
std::optional<StoppedListener> stopped_listener(std::span<const std::string> paths);

// Returns "process 7 listens at /run/corelane/nameserver.sock, but it is stopped".
std::string to_string(const StoppedListener& listener);
// Returns the command that makes the process continue.
std::string go_on_command(int pid);

}  // namespace corelane::os
