// The cores that a server would use that is started on this host.
// Threads: reads the host's files.
#pragma once

#include <string>
#include <vector>

#include "orb/base/expected.h"
#include "orb/base/ids.h"
#include "orb/dispatch/executive.h"

namespace corelane::tool {

// The fault says why there are none, and what to do. It ends with the advice to say --cores COUNT.
Expected<std::vector<CoreId>, std::string> host_cores(const dispatch::ExecutiveOptions& server);

}  // namespace corelane::tool
