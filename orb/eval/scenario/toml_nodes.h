// Parses TOML into nodes.
// Threads: any but real-time ones: it allocates.
#pragma once

#include <string>
#include <string_view>

#include "orb/base/expected.h"
#include "orb/eval/scenario.h"
#include "orb/eval/scenario/node.h"

namespace corelane::eval {

// Returns the file's table. `path` is for the fault.
Expected<Node, ScenarioFault> parse_toml(std::string_view text, const std::string& path);

}  // namespace corelane::eval
