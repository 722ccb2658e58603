// Listening says which process listens at the sockets of a daemon, whether it can answer, and whether it is trusted.
// Threads: any. Each query connects and closes again.
#pragma once

#include <string>
#include <vector>

#include "orb/channel/access.h"

namespace corelane::tool {

struct Listening {
  std::string at{};      // the socket; "": no process listens
  int pid = 0;           // the process that listens there; 0: it is of another namespace, or very busy
  bool stopped = false;  // by a signal or a debugger: it does not answer until it continues
  // Why it must not be used, as the end of a sentence: "is run by user 7, ..."; "": it may be used.
  std::string fault{};

  explicit operator bool() const { return !at.empty() && fault.empty(); }
};

// Looks for the first of the sockets where a trusted process listens; otherwise for the first where any process
// listens. Trusted are root, this user and the users of `trusted`, as in an ORB.
Listening listening_at(const std::vector<std::string>& sockets, const channel::Access& trusted = {});

// Returns whether a signal or a debugger has stopped it.
bool is_stopped(int pid);

// Returns a text like "process 7 at /tmp/x.sock is run by user 1234, neither this one nor root, so it is not used"; ""
// if it may be used.
std::string fault_text(const Listening& daemon);
// Returns "process 7 listens at /run/corelane/reserved.sock, but it is stopped"; "" if it is not stopped.
std::string stopped_text(const Listening& daemon);
// Returns the command that makes it continue.
std::string go_on_command(const Listening& daemon);

}  // namespace corelane::tool
