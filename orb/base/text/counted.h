// counted() returns a count with its noun, such as "1 lease" and "2 leases".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace corelane {

// `one` and `many`: the noun and other words that depend on the number, such as "lease is" and "leases are".
inline std::string counted(std::uint64_t count, std::string_view one, std::string_view many) {
  return std::to_string(count).append(" ").append(count == 1 ? one : many);
}

// For a noun whose plural ends with s.
inline std::string counted(std::uint64_t count, std::string_view one) {
  return counted(count, one, std::string(one) + "s");
}

}  // namespace corelane
