// Threads: any, as long as none changes the environment.
#pragma once

#include <cstdlib>
#include <string>

namespace corelane::os {

// A variable of the environment; empty: it is not set, or to nothing.
inline std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string() : value;
}

}  // namespace corelane::os
