// `corelane ping` calls an object, and shows which transport it used, why that one, and how long the calls took. The
// options are defined in ping_command.cpp.
// Threads: none of its own but the ORB's.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "orb/base/time.h"
#include "services/corelane/output/format.h"

namespace corelane::tool {

struct PingOptions {
  std::string reference{};
  int calls = 1000;                    // measured calls, after a few that are not measured
  Duration interval{};                 // between two calls; 0: none
  std::vector<std::string> options{};  // -ORB options with their values
  Format format = Format::table;
};

// Writes results to `out` and complaints to `err`. Returns 0 if the object exists; 1 if not, or if it does not answer.
int ping(const PingOptions& options, std::ostream& out, std::ostream& err);

}  // namespace corelane::tool
