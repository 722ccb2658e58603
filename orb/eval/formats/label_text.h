// Makes labels fit for the texts of other programs. A label may have come from a file with any bytes.
// Threads: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "orb/base/text/one_line.h"

namespace corelane::eval {

// Returns whether the bytes at the beginning of a text are a character of Unicode.
constexpr bool is_unicode(Utf8Character character) noexcept {
  const std::uint32_t code = character.code;
  if (character.size == 1) return code < 0x80;
  constexpr std::uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  return code >= least[character.size] && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
}

// Replaces control characters, and bytes that are no UTF-8, by question marks.
inline std::string printable_label(std::string_view text) {
  std::string result;
  while (!text.empty()) {  // bound: the text
    const Utf8Character next = utf8_character(text);
    if (is_control(next.code) || !is_unicode(next))
      result += '?';
    else
      result += text.substr(0, next.size);
    text.remove_prefix(next.size);
  }
  return result;
}

}  // namespace corelane::eval
