#include "orb/giop/url_text.h"

#include <charconv>
#include <cstdint>
#include <cstring>

namespace corelane::giop {
namespace {

std::optional<char> byte_of(std::string_view digits) noexcept {
  std::uint8_t byte = 0;
  const auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), byte, 16);
  if (digits.size() != 2 || fault != std::errc{} || end != digits.data() + 2) return std::nullopt;
  return static_cast<char>(byte);
}

bool is_plain(char c) noexcept {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c != 0 && std::strchr(";/:?@&=+$,-_.!~*'()", c) != nullptr);
}

}  // namespace

std::optional<std::string> url_unescaped(std::string_view text) {
  std::string bytes;
  bytes.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      bytes += text[i];
      continue;
    }
    const auto byte = byte_of(text.substr(i + 1, 2));
    if (!byte) return std::nullopt;
    bytes += *byte;
    i += 2;
  }
  return bytes;
}

std::string url_escaped(std::string_view bytes) {
  constexpr char digits[] = "0123456789abcdef";
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (is_plain(c))
      text += c;
    else
      text += {'%', digits[byte >> 4], digits[byte & 15]};
  }
  return text;
}

}  // namespace corelane::giop
