// Threads: any.
#pragma once

#include <exception>
#include <string_view>

namespace corelane {

// Returns the text of an exception. If its what() is null, the text says so.
inline std::string_view what_of(const std::exception& exception) noexcept {
  const char* const text = exception.what();
  return text == nullptr ? "an exception whose what() is null" : text;
}

}  // namespace corelane
