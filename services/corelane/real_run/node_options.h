// The options with which the processes of a real run start their ORBs.
//
// Threads: pure functions. Allocates.
#pragma once

#include <string>
#include <vector>

#include "orb/eval/run.h"

namespace corelane::tool {

// Returns what of the request a real run cannot do, and what to do instead, in a sentence; "" if it can do all. It does
// not look at this host.
std::string fault_of(const eval::RunRequest& request);

// Changes the request's platform to one that a server can have. A server always has a platform load, and has no
// settings for the jitter of that load and for the capacity of cores. Returns a sentence for each change.
std::vector<std::string> adapt_platform(eval::RunRequest& request);

// Return -ORB options with their values. `directory`: the runtime directory, which only this run uses. So the server
// neither sees promises of other servers nor asks corelane-reserved for cores.
std::vector<std::string> server_options(const eval::RunRequest& request, const std::string& directory);
std::vector<std::string> client_options(const std::string& directory);

}  // namespace corelane::tool
