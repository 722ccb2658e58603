// `corelane trace` reads a trace file, summarizes it, replays it, converts it for Perfetto, and asks a running server
// for one. The options are defined in trace_command.cpp.
// Threads: none of its own; waits for files.
//
// The folder services/corelane/trace gets recorded runs, reads them, and converts them.
#pragma once

#include <chrono>
#include <iosfwd>
#include <string>

#include "services/corelane/output/format.h"

namespace corelane::tool {

struct TraceOptions {
  std::string file{};    // to read
  std::string output{};  // the Perfetto file; empty: none
  bool text = false;     // every record as a line
  bool replay = false;   // make all decisions again and compare
  int request = 0;       // the process to ask for a trace; 0: none
  Format format = Format::table;
  std::string directory{};               // where that process looks for requests
  std::chrono::milliseconds wait{5000};  // the timeout for its answer
};

// Writes results to `out` and complaints to `err`. Returns 0 if all was done; 1 if not, or if the replay differs.
int trace(const TraceOptions& options, std::ostream& out, std::ostream& err);

}  // namespace corelane::tool
