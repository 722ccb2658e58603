// ExpressionParser parses constant expressions.
//
// Threads: one owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "idl/ast/ast.h"
#include "idl/front/parser/name_parser.h"
#include "idl/front/parser/parser_state.h"

namespace corelane::idl {

class ExpressionParser {
 public:
  static constexpr std::size_t deepest_expression = 100;     // parentheses and prefix operators
  static constexpr std::uint32_t longest_expression = 1000;  // operators in a row

  ExpressionParser(ParserState& state, NameParser& names) : state_(state), cursor_(state.cursor), names_(names) {}

  ast::ExpressionPtr parse();
  // Parses an expression in front of '>' or ','.
  ast::ExpressionPtr bound();
  // Parses string literals side by side, which are one string.
  std::string strings();

 private:
  ast::ExpressionPtr binary(std::size_t level);
  ast::ExpressionPtr unary();
  ast::ExpressionPtr primary();
  std::optional<bool> lower_case_boolean();
  ast::ExpressionPtr literal();
  ast::ExpressionPtr wide_strings();

  ParserState& state_;
  TokenCursor& cursor_;
  NameParser& names_;
};

}  // namespace corelane::idl
