// What `corelane ping` does, apart from its options: calls an object, and says over which transport, why over that one,
// and how long it took.
// Threads: none of its own but the ORB's.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "orb/base/time.h"
#include "services/corelane/format.h"

namespace corelane::tool {

struct PingOptions {
  std::string reference{};
  int calls = 1000;                    // measured, after a few that are not
  Duration interval{};                 // between two calls; 0: at once
  std::vector<std::string> options{};  // -ORB options with their values
  Format format = Format::table;
};

// Results on `out`, complaints on `err`. 0: the object is there; 1: it is not, or does not answer.
int ping(const PingOptions& options, std::ostream& out, std::ostream& err);

}  // namespace corelane::tool
