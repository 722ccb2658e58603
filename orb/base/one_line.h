// What others wrote, as the log or a message shows it: part of one line, in which no control character moves a cursor.
// Threads: any.
#pragma once

#include <algorithm>
#include <string>
#include <utility>

namespace corelane {

constexpr bool is_control(char c) noexcept { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; }

// Control characters become question marks; all other bytes stay as they are.
inline std::string as_one_line(std::string text) {
  std::replace_if(text.begin(), text.end(), is_control, '?');
  return text;
}

}  // namespace corelane
