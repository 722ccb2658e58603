// Where the commands that look at recorded runs get them from: a file, or a running server that is asked for one.
// Threads: none of its own; waits for files.
#pragma once

#include <chrono>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>

#include "orb/sched/trace_file.h"

namespace corelane::tool {

// Where a command complains, and by which name: "corelane trace: ...".
struct Complaints {
  std::string_view command;
  std::ostream& out;

  std::ostream& begin() const;
};

// Nothing when it complained.
std::optional<sched::TraceFile> load_trace(const std::string& path, const Complaints& complaints);

// Asks the process and waits for its answer; the path of the trace, or nothing when it complained. `directory`: where
// that process looks for requests.
std::optional<std::string> request_trace(const std::string& directory, int pid, std::chrono::milliseconds wait,
                                         const Complaints& complaints);

}  // namespace corelane::tool
