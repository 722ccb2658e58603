// Which way the calls through a reference go, for people.
// Threads: any but real-time ones.
#pragma once

#include <string>

#include "orb/core/reference.h"

namespace corelane::core {

// Of the connection that the latest calls used.
struct Way {
  std::string text;       // the whole of it: "calls over channel:/run/x: the server is on this host"
  std::string transport;  // channel, unix or tcp; process: there is none; "": the connection is gone again
  std::string endpoint;   // such as channel:/run/x
  std::string why;        // that and no other
};
Way way_of(const Reference& reference);

}  // namespace corelane::core
