// JSON as the command prints it. A name, a label or a path may hold any bytes; what is not UTF-8 is replaced (U+FFFD).
// Threads: pure. Allocates.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace corelane::tool {

// Indented, on lines that are all ended.
std::string json_lines(const nlohmann::ordered_json& json);

// In one line, not ended.
std::string json_line(const nlohmann::ordered_json& json);

}  // namespace corelane::tool
