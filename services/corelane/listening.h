// Listening: which process listens at the sockets of a daemon, and whether it can answer and is believed.
// Threads: any. Each question connects and hangs up again.
#pragma once

#include <string>
#include <vector>

#include "orb/channel/access.h"

namespace corelane::tool {

struct Listening {
  std::string at{};      // the socket; "": nobody listens
  int pid = 0;           // who began to listen there; 0: a process of another namespace, or one that is very busy
  bool stopped = false;  // by a signal or a debugger: it answers nobody until it is let go on
  std::string fault{};   // why nobody asks it, as the end of a sentence: "is run by user 7, ..."; "": it may be asked

  explicit operator bool() const { return !at.empty() && fault.empty(); }
};

// At the first of the sockets at which somebody listens who may be asked; else at the first with another. Believed are
// root, this user and those of `trusted`, as an ORB does.
Listening listening_at(const std::vector<std::string>& sockets, const channel::Access& trusted = {});

// Whether a signal or a debugger has stopped it.
bool is_stopped(int pid);

// "process 7 at /tmp/x.sock is run by user 1234, neither this one nor root: it is left alone"; "" where it may be
// asked.
std::string fault_text(const Listening& daemon);
// "process 7 listens at /run/corelane/reserved.sock, but it is stopped"; "" where it is not.
std::string stopped_text(const Listening& daemon);
// What lets it go on.
std::string go_on_command(const Listening& daemon);

}  // namespace corelane::tool
