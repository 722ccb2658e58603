// The values of literals. Each function takes the text of one token and says in words what is wrong with it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "idl/ast/ast.h"

namespace corelane::idl {

// A value, or the fault as a sentence.
struct LiteralFault {
  std::string message;
};
template <typename T>
using Literal = std::variant<T, LiteralFault>;

Literal<std::uint64_t> integer_value(std::string_view text);  // decimal, octal (0...), hexadecimal (0x...)
Literal<ast::Real> floating_value(std::string_view text);
Literal<ast::FixedLiteral> fixed_value(std::string_view text);  // with its d; at most 31 digits that count
Literal<char> character_value(std::string_view text);           // with its quotes
Literal<std::string> string_value(std::string_view text);       // with its quotes; no NUL inside
// The same with an L in front. Bytes beyond ASCII are UTF-8; where they are not, each stands for itself.
Literal<char32_t> wide_character_value(std::string_view text);
Literal<std::u32string> wide_string_value(std::string_view text);

}  // namespace corelane::idl
