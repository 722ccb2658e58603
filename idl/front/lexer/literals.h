// Reads the values of literals. Each function takes the text of one token. On error it returns a sentence that says
// what is wrong.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "idl/ast/ast.h"

namespace corelane::idl {

// The result of reading a literal: a value, or a fault as a sentence.
struct LiteralFault {
  std::string message;
};
template <typename T>
using Literal = std::variant<T, LiteralFault>;

Literal<std::uint64_t> integer_value(std::string_view text);  // decimal, octal (0...), hexadecimal (0x...)
Literal<ast::Real> floating_value(std::string_view text);
Literal<ast::FixedLiteral> fixed_value(std::string_view text);  // including its d; at most 31 significant digits
Literal<char> character_value(std::string_view text);           // including its quotes
Literal<std::string> string_value(std::string_view text);       // including its quotes; without NUL
// For literals that begin with L. Bytes beyond ASCII are UTF-8; an invalid byte counts as one character.
Literal<char32_t> wide_character_value(std::string_view text);
Literal<std::u32string> wide_string_value(std::string_view text);

}  // namespace corelane::idl
