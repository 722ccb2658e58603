// What doctor finds out by trying: each attempt leaves nothing behind.
// Threads: not real-time ones; some attempts start a short-lived thread.
#pragma once

#include <string>
#include <vector>

#include "services/corelane/finding.h"

namespace corelane::tool {

// Where servers and daemons are looked for.
struct ProbedPlaces {
  std::string runtime_directory{};
  std::vector<std::string> nameserver{}, reserved{};  // sockets
  channel::Access trusted{};                          // whose nameserver is believed
  std::string start_options{};                        // of daemons that are to be found there
};

// Of this process.
ProbedFacts probe(const ProbedPlaces& places);

// Why servers of this user cannot meet in the directory; "": they can. It need not be there when the one above it is.
std::string fault_of_runtime_directory(const std::string& directory);

}  // namespace corelane::tool
