// from_environment() reads numbers that make a test run longer than usual, or elsewhere: CORELANE_MUTATIONS=100000.
#pragma once

#include <cstdint>
#include <cstdlib>

namespace corelane::testing {

inline std::uint64_t from_environment(const char* name, std::uint64_t usual) {
  const char* const value = std::getenv(name);
  return value == nullptr ? usual : std::strtoull(value, nullptr, 10);
}

}  // namespace corelane::testing
