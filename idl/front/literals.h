// The values of literals. Each function takes the text of one token and says in words what is wrong with it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

namespace corelane::idl {

// A value, or the fault as a sentence.
struct LiteralFault {
  std::string message;
};
template <typename T>
using Literal = std::variant<T, LiteralFault>;

Literal<std::uint64_t> integer_value(std::string_view text);  // decimal, octal (0...), hexadecimal (0x...)
Literal<double> floating_value(std::string_view text);
Literal<char> character_value(std::string_view text);      // with its quotes
Literal<std::string> string_value(std::string_view text);  // with its quotes; no NUL inside

}  // namespace corelane::idl
