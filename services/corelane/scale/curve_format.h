// CurveFormat says how the `scale` commands show their results.
#pragma once

#include <cstdint>

namespace corelane::tool {

enum class CurveFormat : std::uint8_t { table, json, csv };

}  // namespace corelane::tool
