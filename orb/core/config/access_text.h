// parse_access() turns the setting channel.allow into an access list. The setting is "anyone", or a list of users and
// groups.
// Threads: any except real-time ones, because it reads the system's lists of users and groups.
#pragma once

#include <string>
#include <string_view>

#include "orb/base/expected.h"
#include "orb/channel/access.h"

namespace corelane::core {

// Parses text such as "alice, 1001, @plant, @44". If that fails, returns what was expected, worded as the end of a
// sentence.
Expected<channel::Access, std::string> parse_access(std::string_view text);

}  // namespace corelane::core
