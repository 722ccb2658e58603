// Functions that get a recorded run for a command: from a file, or from a running server.
// Threads: none of its own; waits for files.
#pragma once

#include <chrono>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>

#include "orb/sched/trace/trace_file.h"

namespace corelane::tool {

// Where a command writes complaints, and under which name: "corelane trace: ...".
struct Complaints {
  std::string_view command;
  std::ostream& out;

  std::ostream& begin() const;
};

// Returns nothing after a complaint.
std::optional<sched::TraceFile> load_trace(const std::string& path, const Complaints& complaints);

// Asks the process for a trace and waits for its answer. Returns the path of the trace, or nothing after a complaint.
// `directory` is where that process looks for requests.
std::optional<std::string> request_trace(const std::string& directory, int pid, std::chrono::milliseconds wait,
                                         const Complaints& complaints);

}  // namespace corelane::tool
