// Converts bytes as tests write them: hexadecimal text with blanks, and quoted ASCII.   "47494f50 0100 'ping' 00"
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "orb/base/bytes.h"

namespace corelane::test {

inline std::vector<std::byte> wire(std::string_view text) {
  std::vector<std::byte> bytes;
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ' ') continue;
    if (text[i] == '\'') {
      while (text[++i] != '\'') bytes.push_back(static_cast<std::byte>(text[i]));
      continue;
    }
    bytes.push_back(static_cast<std::byte>(digit(text[i]) * 16 + digit(text[i + 1])));
    ++i;
  }
  bytes.shrink_to_fit();
  return bytes;
}

inline std::string_view text_of(Bytes bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

inline std::vector<std::byte> copy_of(Bytes bytes) { return {bytes.begin(), bytes.end()}; }

}  // namespace corelane::test
