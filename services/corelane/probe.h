// What doctor finds out by trying: each attempt leaves nothing behind.
// Threads: not real-time ones; some attempts start a short-lived thread.
#pragma once

#include <string>

#include "services/corelane/finding.h"

namespace corelane::tool {

// Of this process, with `runtime_directory` as the servers' own.
ProbedFacts probe(const std::string& runtime_directory);

// Why servers of this user cannot meet in the directory; "": they can. It need not be there when the one above it is.
std::string fault_of_runtime_directory(const std::string& directory);

}  // namespace corelane::tool
