// Format says how a command shows its results.
#pragma once

#include <cstdint>

namespace corelane::tool {

enum class Format : std::uint8_t { table, json };

}  // namespace corelane::tool
