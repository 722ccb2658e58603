// Listening: which process listens at the sockets of a daemon, and whether it can answer.
// Threads: any. Each question connects and hangs up again.
#pragma once

#include <string>
#include <vector>

namespace corelane::tool {

struct Listening {
  std::string at{};      // the socket; "": nobody listens
  int pid = 0;           // who began to listen there; 0: a process of another namespace
  bool stopped = false;  // by a signal or a debugger: it answers nobody until it is let go on

  explicit operator bool() const { return !at.empty(); }
};

// At the first of the sockets at which somebody listens.
Listening listening_at(const std::vector<std::string>& sockets);

// "process 7 listens at /run/corelane/reserved.sock, but it is stopped"; "" where it is not.
std::string stopped_text(const Listening& daemon);
// What lets it go on.
std::string go_on_command(const Listening& daemon);

}  // namespace corelane::tool
