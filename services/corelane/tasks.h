// corelane tasks end: ends tasks that a server has admitted, whoever's they are. What a server lets nobody else do, its
// user and root may: they could end the server. It asks by a file in the runtime directory
// (orb/dispatch/end_requests.h). Threads: none of its own; waits for files.
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
  std::vector<std::string> holders{};  // all tasks of these, likewise: "10.0.0.7", "user 1000"
  std::chrono::milliseconds wait{5000};
};

// 0: all of them end; 1: some do not, or the server did not answer, and why is said.
int end_tasks(const EndOptions& options, std::ostream& out, std::ostream& err);

}  // namespace corelane::tool
