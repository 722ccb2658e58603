#include "idl/front/literals.h"

#include <charconv>

#include "idl/ast/diagnostics.h"

namespace corelane::idl {
namespace {

constexpr std::string_view simple_escapes = "ntvbrfa\\?'\"";
constexpr std::string_view simple_values = "\n\t\v\b\r\f\a\\?'\"";

int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return 99;
}

// Reads up to `most` digits of a base from the front of `rest`; -1 when there is none.
int digits(std::string_view& rest, int base, int most) {
  int value = -1;
  for (int i = 0; i < most && !rest.empty() && digit_of(rest.front()) < base; ++i) {
    value = (value < 0 ? 0 : value * base) + digit_of(rest.front());
    rest.remove_prefix(1);
  }
  return value;
}

// One character, escaped or not, from the front of `rest`.
Literal<char> next_character(std::string_view& rest) {
  const char first = rest.front();
  rest.remove_prefix(1);
  if (first != '\\') return first;
  if (rest.empty()) return LiteralFault{"a backslash stands before nothing"};
  const char kind = rest.front();
  if (const std::size_t at = simple_escapes.find(kind); at != std::string_view::npos) {
    rest.remove_prefix(1);
    return simple_values[at];
  }
  int value = -1;
  if (kind == 'x') {
    rest.remove_prefix(1);
    value = digits(rest, 16, 2);
  } else if (kind != 'u') {
    value = digits(rest, 8, 3);
  }
  if (value < 0) return LiteralFault{std::string("`\\") + kind + "` is no escape sequence"};
  if (value > 255) return LiteralFault{"the value of this escape sequence is above 255"};
  return static_cast<char>(static_cast<unsigned char>(value));
}

}  // namespace

Literal<std::uint64_t> integer_value(std::string_view text) {
  int base = 10;
  std::string_view body = text;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    base = 16;
    body.remove_prefix(2);
  } else if (text.size() > 1 && text.starts_with('0')) {
    base = 8;
    body.remove_prefix(1);
  }
  std::uint64_t value = 0;
  const auto [end, fault] = std::from_chars(body.data(), body.data() + body.size(), value, base);
  if (fault == std::errc::result_out_of_range) return LiteralFault{quoted(text) + " does not fit in 64 bits"};
  if (fault != std::errc{} || end != body.data() + body.size()) return LiteralFault{quoted(text) + " is no number"};
  return value;
}

Literal<double> floating_value(std::string_view text) {
  double value = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault == std::errc::result_out_of_range) return LiteralFault{quoted(text) + " is out of the range of double"};
  if (fault != std::errc{} || end != text.data() + text.size()) return LiteralFault{quoted(text) + " is no number"};
  return value;
}

Literal<char> character_value(std::string_view text) {
  std::string_view rest = text.substr(1, text.size() - 2);
  if (rest.empty()) return LiteralFault{"a character literal holds one character"};
  const Literal<char> value = next_character(rest);
  if (std::holds_alternative<char>(value) && !rest.empty())
    return LiteralFault{"a character literal holds one character"};
  return value;
}

Literal<std::string> string_value(std::string_view text) {
  std::string_view rest = text.substr(1, text.size() - 2);
  std::string value;
  while (!rest.empty()) {
    const Literal<char> next = next_character(rest);
    if (const auto* fault = std::get_if<LiteralFault>(&next)) return *fault;
    if (std::get<char>(next) == '\0') return LiteralFault{"a string cannot hold the character with value 0"};
    value += std::get<char>(next);
  }
  return value;
}

}  // namespace corelane::idl
