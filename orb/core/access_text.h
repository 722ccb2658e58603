// The setting channel.allow: "anyone", or users and groups, as an access list.
// Threads: any but real-time ones (reads the system's lists of users and groups).
#pragma once

#include <string>
#include <string_view>

#include "orb/base/expected.h"
#include "orb/channel/access.h"

namespace corelane::core {

// "alice, 1001, @plant, @44". Else what is expected, as the end of a sentence.
Expected<channel::Access, std::string> parse_access(std::string_view text);

}  // namespace corelane::core
