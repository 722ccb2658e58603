#pragma once

#include <cstddef>
#include <initializer_list>
#include <vector>

namespace corelane::testing {

inline std::vector<std::byte> octets(std::initializer_list<int> values) {
  std::vector<std::byte> out;
  for (const int v : values) out.push_back(static_cast<std::byte>(v));
  return out;
}

}  // namespace corelane::testing
