// Threads: any.
#pragma once

#include <exception>
#include <string_view>

namespace corelane {

// What somebody else's exception says of itself; one whose what() is null says so.
inline std::string_view what_of(const std::exception& exception) noexcept {
  const char* const text = exception.what();
  return text == nullptr ? "an exception whose what() is null" : text;
}

}  // namespace corelane
