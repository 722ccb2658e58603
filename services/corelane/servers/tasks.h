// `corelane tasks end` ends tasks that a server has admitted, of any client. Only the server's user and root may do
// this, because they could end the server, too. The request is a file in the runtime directory
// (orb/dispatch/manager/end_requests.h).
//
// Threads: none of its own; waits for files.
#pragma once

#include <chrono>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

namespace corelane::tool {

struct EndOptions {
  std::string directory{};
  int server = 0;                      // process id
  std::vector<std::uint64_t> tasks{};  // as corelane top shows them
  std::vector<std::string> holders{};  // end all tasks of these, as corelane top shows them: "10.0.0.7", "user 1000"
  std::chrono::milliseconds wait{5000};
};

// Returns 0 if all of them end; 1 if some do not, or the server did not answer, after a complaint.
int end_tasks(const EndOptions& options, std::ostream& out, std::ostream& err);

}  // namespace corelane::tool
