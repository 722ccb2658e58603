// JSON text as the command prints it. A name, a label or a path may have any bytes; what is not UTF-8 is replaced
// (U+FFFD).
// Threads: pure. Allocates.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace corelane::tool {

// Returns indented text. Every line ends with a newline.
std::string json_lines(const nlohmann::ordered_json& json);

// Returns one line without a newline.
std::string json_line(const nlohmann::ordered_json& json);

}  // namespace corelane::tool
