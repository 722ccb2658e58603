#include "idl/front/parser/type_parser.h"

#include <memory>
#include <string>
#include <utility>
#include <variant>

namespace corelane::idl {

using ast::BasicType;

ast::TypeSpec TypeParser::parse(std::string_view what, Inline constructs) {
  if (++state_.type_depth > deepest_type) cursor_.fail(cursor_.current().span, "types are nested too deeply");
  ast::TypeSpec result = type_inside(what, constructs);
  --state_.type_depth;
  return result;
}

ast::TypeSpec TypeParser::type_inside(std::string_view what, Inline constructs) {
  const Token& first = cursor_.current();
  if (first.is(TokenKind::keyword)) return keyword_type(what, constructs);
  if (!first.is(TokenKind::identifier) && !first.is("::")) cursor_.fail_expected(what);
  if (first.text == "map" && cursor_.ahead(1).is("<")) return map_type();
  if (at_string_of_cpp()) return string_of_cpp();
  ast::ScopedName name = names_.scoped_name();
  const Span span = name.span;
  if (name.parts.back().text == "vector" && cursor_.at("<"))
    cursor_.fail(span, "write `sequence<T>`, as IDL has it, for " + quoted(ast::to_string(name) + "<T>"));
  return {std::move(name), span};
}

ast::TypeSpec TypeParser::keyword_type(std::string_view what, Inline constructs) {
  struct BasicEntry {
    std::string_view keyword;
    BasicType type;
  };
  constexpr BasicEntry basics[] = {{"boolean", BasicType::boolean},
                                   {"octet", BasicType::octet},
                                   {"char", BasicType::character},
                                   {"wchar", BasicType::wide_character},
                                   {"float", BasicType::float32},
                                   {"double", BasicType::float64},
                                   {"any", BasicType::any},
                                   {"Object", BasicType::object},
                                   {"ValueBase", BasicType::value_base}};
  for (const BasicEntry& entry : basics)
    if (cursor_.at(entry.keyword)) return {entry.type, cursor_.advance().span};
  if (cursor_.at("short") || cursor_.at("long") || cursor_.at("unsigned")) return integer_type();
  if (cursor_.at("string") || cursor_.at("wstring")) return string_type();
  if (cursor_.at("sequence")) return sequence_type();
  if (cursor_.at("fixed")) return fixed_type();
  if (cursor_.at("struct") || cursor_.at("union") || cursor_.at("enum")) {
    if (constructs == Inline::allowed) return inline_construct();
    return misplaced_construct();
  }
  if (cursor_.at("void")) cursor_.fail(cursor_.current().span, "`void` is only the result of an operation");
  cursor_.fail_expected(what);
}

ast::TypeSpec TypeParser::integer_type() {
  const Token first = cursor_.current();
  const bool is_unsigned = cursor_.accept("unsigned");
  Token last = cursor_.current();
  if (cursor_.accept("short")) return {is_unsigned ? BasicType::uint16 : BasicType::int16, join(first.span, last.span)};
  if (!cursor_.at("long")) cursor_.fail_expected("`short` or `long` after `unsigned`");
  cursor_.advance();
  last = cursor_.current();
  if (cursor_.accept("long")) return {is_unsigned ? BasicType::uint64 : BasicType::int64, join(first.span, last.span)};
  if (!is_unsigned && cursor_.accept("double")) return {BasicType::float128, join(first.span, last.span)};
  return {is_unsigned ? BasicType::uint32 : BasicType::int32, join(first.span, cursor_.previous().span)};
}

ast::TypeSpec TypeParser::string_type() {
  const Token keyword = cursor_.advance();
  ast::StringOf result{.wide = keyword.is("wstring"), .bound = nullptr};
  if (cursor_.accept("<")) {
    result.bound = expressions_.bound();
    cursor_.expect_closing_angle();
  }
  return {std::move(result), join(keyword.span, cursor_.previous().span)};
}

bool TypeParser::at_string_of_cpp() const {
  const std::size_t at = cursor_.at("::") ? 1 : 0;
  const Token& word = cursor_.ahead(at + 2);
  return cursor_.ahead(at).text == "std" && cursor_.ahead(at + 1).is("::") && (word.is("string") || word.is("wstring"));
}

// std::string. Reports it and takes it for string, so that what follows is read, too.
ast::TypeSpec TypeParser::string_of_cpp() {
  const Span first = cursor_.current().span;
  while (!cursor_.at("string") && !cursor_.at("wstring")) cursor_.advance();  // bound: std and its colons
  const std::string word(cursor_.current().text);
  state_.diagnostics.error(join(first, cursor_.current().span),
                           "write " + quoted(word) + ", as IDL has it, for " + quoted("std::" + word));
  return string_type();
}

// sequence<@try_construct(TRIM) string<5> >
ast::TypeSpecPtr TypeParser::element_type(std::string_view what) {
  ast::Annotations notes = annotations_.parse();
  auto result = std::make_unique<ast::TypeSpec>(parse(what));
  result->annotations = std::move(notes);
  return result;
}

ast::TypeSpec TypeParser::sequence_type() {
  const Token keyword = cursor_.advance();
  ast::SequenceOf result;
  cursor_.expect("<");
  result.element = element_type("the type of an element");
  if (cursor_.accept(",")) result.bound = expressions_.bound();
  cursor_.expect_closing_angle();
  return {std::move(result), join(keyword.span, cursor_.previous().span)};
}

ast::TypeSpec TypeParser::map_type() {
  const Token keyword = cursor_.advance();
  ast::MapOf result;
  cursor_.expect("<");
  result.key = element_type("the type of a key");
  cursor_.expect(",");
  result.element = element_type("the type of a value");
  if (cursor_.accept(",")) result.bound = expressions_.bound();
  cursor_.expect_closing_angle();
  return {std::move(result), join(keyword.span, cursor_.previous().span)};
}

ast::TypeSpec TypeParser::fixed_type() {
  const Token keyword = cursor_.advance();
  ast::FixedOf result;
  if (cursor_.accept("<")) {
    result.digits = expressions_.bound();
    cursor_.expect(",");
    result.scale = expressions_.bound();
    cursor_.expect_closing_angle();
  }
  return {std::move(result), join(keyword.span, cursor_.previous().span)};
}

// A struct, union or enum that is defined where its type is used, as IDL 2 allowed.
ast::TypeSpec TypeParser::inline_construct() {
  const Token keyword = cursor_.advance();
  DefinitionPtr made = definitions_.construct(keyword);
  if (std::holds_alternative<ast::ForwardStructure>(made->node) ||
      std::holds_alternative<ast::ForwardUnion>(made->node)) {
    cursor_.fail_expected("`{`");
  }
  const Span span = join(keyword.span, made->name.span);
  ast::InlineDefinition result;
  result.one.push_back(std::move(made));
  return {std::move(result), span};
}

ast::TypeSpec TypeParser::misplaced_construct() {
  const Span at = cursor_.current().span;
  state_.diagnostics.error(at, "a struct, union or enum is defined before it is used here");
  state_.complete = false;  // names are missing now
  while (!cursor_.at("{") && !cursor_.at(";") && !cursor_.at_end()) cursor_.advance();
  const std::size_t depth = cursor_.depth();
  if (cursor_.accept("{"))
    while (cursor_.depth() > depth && !cursor_.at_end()) cursor_.advance();
  return {ast::UnusableType{}, at};
}

std::vector<ast::Declarator> TypeParser::declarators() {
  std::vector<ast::Declarator> result;
  do result.push_back(declarator());
  while (cursor_.accept(","));
  return result;
}

ast::Declarator TypeParser::declarator() {
  ast::Declarator result{.name = names_.identifier("a name"), .dimensions = {}};
  if (cursor_.at("@")) {
    const Span at = cursor_.current().span;
    result.annotations = annotations_.parse();
    if (!cursor_.at("["))
      cursor_.fail(at, "expected `;`, found `@` (an annotation behind a name is for the elements of an array)");
  }
  while (cursor_.accept("[")) {
    if (cursor_.at("]")) cursor_.fail(cursor_.current().span, "an array needs its length");
    if (result.dimensions.size() == deepest_type) cursor_.fail(cursor_.current().span, "types are nested too deeply");
    result.dimensions.push_back(expressions_.parse());
    cursor_.expect("]");
  }
  return result;
}

}  // namespace corelane::idl
