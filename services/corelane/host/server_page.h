// Functions that read the counter page of one server.
// Threads: none of its own; reads files.
#pragma once

#include <optional>
#include <string>

#include "orb/dispatch/counter_page.h"

namespace corelane::tool {

// Returns the page of the process; nothing if there is none that this user may read.
std::optional<dispatch::ProcessCounters> server_page(const std::string& directory, int pid);

// Returns why the process of the page has no trace, as a verb phrase: "runs in dispatch.mode leader-followers, ..."; ""
// if it may have one.
std::string why_untraced(const dispatch::ProcessCounters& page);
// Returns the same for a process by its page in the directory. Also returns "" if it has no page that this user may
// read.
std::string why_untraced_in(const std::string& directory, int pid);

}  // namespace corelane::tool
