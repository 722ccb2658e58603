// as_one_line() prepares text of other programs for the log and messages. The result is part of one line, and none of
// its characters controls a terminal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace corelane {

// A character of UTF-8. A byte that begins none is a character of one byte.
struct Utf8Character {
  std::size_t size;
  std::uint32_t code;
};
constexpr Utf8Character utf8_character(std::string_view text) noexcept {
  const auto byte = [text](std::size_t at) { return static_cast<std::uint32_t>(static_cast<unsigned char>(text[at])); };
  const std::uint32_t first = byte(0);
  const std::size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;
  if (size == 1 || size > text.size() || first >= 0xf8) return {1, first};
  std::uint32_t code = first & (0x7fu >> size);
  for (std::size_t at = 1; at < size; ++at) {
    if ((byte(at) & 0xc0u) != 0x80u) return {1, first};
    code = code << 6 | (byte(at) & 0x3fu);
  }
  return {size, code};
}

// Returns whether a terminal might act on the character. These are control characters (also those of 8 bits), ends of
// lines, and characters that change the direction of text.
constexpr bool is_control(std::uint32_t code) noexcept {
  return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x200e || code == 0x200f ||
         (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

// Replaces control characters by question marks; leaves all other bytes as they are.
inline std::string as_one_line(std::string_view text) {
  std::string line;
  line.reserve(text.size());
  while (!text.empty()) {  // bound: the text
    const Utf8Character next = utf8_character(text);
    if (is_control(next.code))
      line += '?';
    else
      line += text.substr(0, next.size);
    text.remove_prefix(next.size);
  }
  return line;
}

}  // namespace corelane
