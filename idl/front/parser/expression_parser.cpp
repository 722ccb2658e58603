#include "idl/front/parser/expression_parser.h"

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>
#include <variant>

#include "idl/front/lexer/literals.h"

namespace corelane::idl {
namespace {

using ast::Operator;

struct BinaryOperator {
  std::string_view text;
  Operator op;
  std::size_t level;  // 0 binds least
};
constexpr BinaryOperator binary_operators[] = {{"|", Operator::bit_or, 0},       {"^", Operator::bit_xor, 1},
                                               {"&", Operator::bit_and, 2},      {"<<", Operator::shift_left, 3},
                                               {">>", Operator::shift_right, 3}, {"+", Operator::add, 4},
                                               {"-", Operator::subtract, 4},     {"*", Operator::multiply, 5},
                                               {"/", Operator::divide, 5},       {"%", Operator::modulo, 5}};
constexpr std::size_t levels = 6;

const BinaryOperator* operator_at(const Token& token, std::size_t level) {
  for (const BinaryOperator& candidate : binary_operators)
    if (candidate.level == level && token.is(candidate.text)) return &candidate;
  return nullptr;
}

template <typename Node>
ast::ExpressionPtr make(Node node, const Span& span, std::uint32_t depth = 1) {
  auto result = std::make_unique<ast::Expression>();
  result->node = std::move(node);
  result->span = span;
  result->depth = depth;
  return result;
}

}  // namespace

ast::ExpressionPtr ExpressionParser::parse() { return binary(0); }

ast::ExpressionPtr ExpressionParser::binary(std::size_t level) {
  if (level == levels) return unary();
  ast::ExpressionPtr left = binary(level + 1);
  // loop: each turn consumes an operator
  while (const BinaryOperator* op = operator_at(cursor_.current(), level)) {
    if (state_.in_angles && op->op == Operator::shift_right) break;
    const Span at = cursor_.advance().span;
    ast::ExpressionPtr right = binary(level + 1);
    const std::uint32_t depth = 1 + std::max(left->depth, right->depth);
    if (depth > longest_expression) cursor_.fail(at, "the expression is too long");
    const Span span = join(left->span, right->span);
    left = make(ast::Binary{op->op, std::move(left), std::move(right)}, span, depth);
  }
  return left;
}

ast::ExpressionPtr ExpressionParser::unary() {
  if (++state_.expression_depth > deepest_expression)
    cursor_.fail(cursor_.current().span, "the expression is nested too deeply");
  constexpr std::pair<std::string_view, Operator> prefixes[] = {
      {"-", Operator::minus}, {"+", Operator::plus}, {"~", Operator::invert}};
  ast::ExpressionPtr result;
  for (const auto& [text, op] : prefixes) {
    if (!cursor_.at(text)) continue;
    const Span first = cursor_.advance().span;
    ast::ExpressionPtr operand = unary();
    const Span span = join(first, operand->span);
    const std::uint32_t depth = operand->depth + 1;
    result = make(ast::Unary{op, std::move(operand)}, span, depth);
    break;
  }
  if (result == nullptr) result = primary();
  --state_.expression_depth;
  return result;
}

ast::ExpressionPtr ExpressionParser::primary() {
  if (cursor_.at("(")) {
    const Span first = cursor_.advance().span;
    const bool before = std::exchange(state_.in_angles, false);
    ast::ExpressionPtr inner = parse();
    state_.in_angles = before;
    cursor_.expect(")");
    inner->span = join(first, cursor_.previous().span);
    return inner;
  }
  if (const auto truth = lower_case_boolean()) {
    const Token word = cursor_.advance();
    return make(*truth, word.span);
  }
  if (cursor_.at(TokenKind::identifier) || cursor_.at("::")) {
    ast::ScopedName name = names_.scoped_name();
    const Span span = name.span;
    return make(std::move(name), span);
  }
  if (cursor_.at("TRUE") || cursor_.at("FALSE")) {
    const Token word = cursor_.advance();
    return make(word.is("TRUE"), word.span);
  }
  return literal();
}

// `true` and `false` mean nothing in IDL, but people and some tools write them.
std::optional<bool> ExpressionParser::lower_case_boolean() {
  const Token& word = cursor_.current();
  const bool is_true = word.text == "true";
  if (!word.is(TokenKind::identifier) || cursor_.ahead(1).is("::") || (!is_true && word.text != "false"))
    return std::nullopt;
  state_.diagnostics.warning(Warning::constant, word.span, is_true ? "write `TRUE`" : "write `FALSE`");
  return is_true;
}

ast::ExpressionPtr ExpressionParser::literal() {
  const Token token = cursor_.current();
  const auto value = [&](auto&& parsed) {
    if (const auto* fault = std::get_if<LiteralFault>(&parsed)) cursor_.fail(token.span, fault->message);
    cursor_.advance();
    return make(std::get<0>(std::forward<decltype(parsed)>(parsed)), token.span);
  };
  switch (token.kind) {
    case TokenKind::integer:
      return value(integer_value(token.text));
    case TokenKind::floating:
      return value(floating_value(token.text));
    case TokenKind::character:
      return value(character_value(token.text));
    case TokenKind::string: {
      std::string text = strings();
      return make(std::move(text), join(token.span, cursor_.previous().span));
    }
    case TokenKind::wide_character:
      return value(wide_character_value(token.text));
    case TokenKind::wide_string:
      return wide_strings();
    case TokenKind::fixed:
      return value(fixed_value(token.text));
    default:
      cursor_.fail_expected("a value");
  }
}

std::string ExpressionParser::strings() {
  std::string text;
  while (cursor_.at(TokenKind::string)) {
    const Literal<std::string> part = string_value(cursor_.current().text);
    if (const auto* fault = std::get_if<LiteralFault>(&part)) cursor_.fail(cursor_.current().span, fault->message);
    text += std::get<std::string>(part);
    cursor_.advance();
  }
  if (cursor_.at(TokenKind::wide_string))
    cursor_.fail(cursor_.current().span, "a wide string cannot continue a string that is not wide");
  return text;
}

ast::ExpressionPtr ExpressionParser::wide_strings() {
  const Span first = cursor_.current().span;
  std::u32string text;
  while (cursor_.at(TokenKind::wide_string)) {
    const Literal<std::u32string> part = wide_string_value(cursor_.current().text);
    if (const auto* fault = std::get_if<LiteralFault>(&part)) cursor_.fail(cursor_.current().span, fault->message);
    text += std::get<std::u32string>(part);
    cursor_.advance();
  }
  if (cursor_.at(TokenKind::string))
    cursor_.fail(cursor_.current().span, "a string that is not wide cannot continue a wide one");
  return make(std::move(text), join(first, cursor_.previous().span));
}

ast::ExpressionPtr ExpressionParser::bound() {
  const bool before = std::exchange(state_.in_angles, true);
  ast::ExpressionPtr result = parse();
  state_.in_angles = before;
  return result;
}

}  // namespace corelane::idl
