// Threads: any, as long as no thread changes the environment.
#pragma once

#include <cstdlib>
#include <string>

namespace corelane::os {

// Returns an environment variable; empty if it is unset or set to nothing.
inline std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string() : value;
}

}  // namespace corelane::os
