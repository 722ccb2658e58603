// What `corelane trace` does, apart from its options: reads a file of the recorder, tells what is in it, replays it,
// writes it for Perfetto, and asks a running server for one.
// Threads: none of its own; waits for files.
#pragma once

#include <chrono>
#include <iosfwd>
#include <string>

#include "services/corelane/format.h"

namespace corelane::tool {

struct TraceOptions {
  std::string file{};    // to read
  std::string output{};  // Perfetto's; empty: none
  bool text = false;     // every record in a line
  bool replay = false;   // decide it all again
  int request = 0;       // the process that is to write a trace; 0: none
  Format format = Format::table;
  std::string directory{};               // where that process looks for requests
  std::chrono::milliseconds wait{5000};  // for its answer
};

// Results on `out`, complaints on `err`. 0: all was done; 1: not, or the replay differs.
int trace(const TraceOptions& options, std::ostream& out, std::ostream& err);

}  // namespace corelane::tool
