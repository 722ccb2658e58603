// probe() finds out for doctor what only an attempt can show. No attempt leaves anything behind.
// Threads: not real-time ones; some attempts start a short-lived thread.
#pragma once

#include <string>
#include <vector>

#include "services/corelane/doctor/finding.h"

namespace corelane::tool {

// The places where `doctor` looks for servers and daemons.
struct ProbedPlaces {
  std::string runtime_directory{};
  std::vector<std::string> nameserver{}, reserved{};  // sockets
  channel::Access trusted{};                          // users whose nameserver is trusted
  std::string start_options{};                        // options that start daemons there
};

// Makes the attempts, with the rights of this process.
ProbedFacts probe(const ProbedPlaces& places);

// Returns why servers of this user cannot use the directory; "" if they can. It need not exist if its parent does.
std::string fault_of_runtime_directory(const std::string& directory);

}  // namespace corelane::tool
