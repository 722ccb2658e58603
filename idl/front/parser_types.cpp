#include <memory>
#include <utility>

#include "idl/front/parser.h"

namespace corelane::idl {

using ast::BasicType;

ast::TypeSpec Parser::type(std::string_view what) {
  if (++type_depth_ > deepest_type) cursor_.fail(cursor_.current().span, "types are nested too deeply");
  ast::TypeSpec result = type_inside(what);
  --type_depth_;
  return result;
}

ast::TypeSpec Parser::type_inside(std::string_view what) {
  const Token& first = cursor_.current();
  if (first.is(TokenKind::keyword)) return keyword_type(what);
  if (!first.is(TokenKind::identifier) && !first.is("::")) cursor_.fail_expected(what);
  if (first.text == "map" && cursor_.ahead(1).is("<")) {
    const Span at = first.span;
    unsupported(at, "`map`");
    cursor_.advance();
    cursor_.expect("<");
    type("the type of a key");
    cursor_.expect(",");
    type("the type of a value");
    if (cursor_.accept(",")) expression();
    cursor_.expect_closing_angle();
    return {ast::UnusableType{}, at};
  }
  ast::ScopedName name = scoped_name();
  const Span span = name.span;
  return {std::move(name), span};
}

ast::TypeSpec Parser::keyword_type(std::string_view what) {
  struct Entry {
    std::string_view keyword;
    BasicType type;
  };
  constexpr Entry entries[] = {{"boolean", BasicType::boolean},
                               {"octet", BasicType::octet},
                               {"char", BasicType::character},
                               {"float", BasicType::float32},
                               {"double", BasicType::float64}};
  for (const Entry& entry : entries)
    if (cursor_.at(entry.keyword)) return {entry.type, cursor_.advance().span};
  if (cursor_.at("short") || cursor_.at("long") || cursor_.at("unsigned")) return integer_type();
  if (cursor_.at("string") || cursor_.at("wstring")) return string_type();
  if (cursor_.at("sequence")) return sequence_type();
  for (const std::string_view refused : {"any", "wchar", "Object", "ValueBase", "fixed"}) {
    if (!cursor_.at(refused)) continue;
    const Span at = cursor_.advance().span;
    unsupported(at, quoted(refused));
    if (refused == "fixed" && cursor_.at("<")) refused_bound();
    return {ast::UnusableType{}, at};
  }
  if (cursor_.at("struct") || cursor_.at("union") || cursor_.at("enum")) return inline_construct();
  if (cursor_.at("void")) cursor_.fail(cursor_.current().span, "`void` is only the result of an operation");
  cursor_.fail_expected(what);
}

ast::TypeSpec Parser::integer_type() {
  const Token first = cursor_.current();
  const bool is_unsigned = cursor_.accept("unsigned");
  Token last = cursor_.current();
  if (cursor_.accept("short")) return {is_unsigned ? BasicType::uint16 : BasicType::int16, join(first.span, last.span)};
  cursor_.expect("long");
  last = cursor_.current();
  if (cursor_.accept("long")) return {is_unsigned ? BasicType::uint64 : BasicType::int64, join(first.span, last.span)};
  if (cursor_.at("double") && !is_unsigned) {
    cursor_.advance();
    unsupported(join(first.span, last.span), "`long double`");
    return {ast::UnusableType{}, first.span};
  }
  return {is_unsigned ? BasicType::uint32 : BasicType::int32, join(first.span, cursor_.previous().span)};
}

ast::TypeSpec Parser::string_type() {
  const Token keyword = cursor_.advance();
  if (keyword.is("wstring")) {
    unsupported(keyword.span, "`wstring`");
    if (cursor_.at("<")) {
      cursor_.advance();
      expression();
      cursor_.expect_closing_angle();
    }
    return {ast::UnusableType{}, keyword.span};
  }
  if (!cursor_.at("<")) return {BasicType::string, keyword.span};
  unsupported(keyword.span, "a bounded string");
  refused_bound();
  return {ast::UnusableType{}, keyword.span};
}

// '<' expression {',' expression} '>'
bool Parser::refused_bound() {
  cursor_.expect("<");
  do expression();
  while (cursor_.accept(","));
  cursor_.expect_closing_angle();
  return true;
}

ast::TypeSpec Parser::sequence_type() {
  const Token keyword = cursor_.advance();
  cursor_.expect("<");
  auto element = std::make_unique<ast::TypeSpec>(type("the type of an element"));
  const bool bounded = cursor_.accept(",");
  if (bounded) {
    expression();
    unsupported(keyword.span, "a bounded sequence");
  }
  cursor_.expect_closing_angle();
  const Span span = join(keyword.span, cursor_.previous().span);
  if (bounded) return {ast::UnusableType{}, span};
  return {ast::SequenceOf{std::move(element)}, span};
}

// IDL 2 let a struct, union or enum be defined where its type is used; IDL 4 does not.
ast::TypeSpec Parser::inline_construct() {
  const Token keyword = cursor_.current();
  unsupported(keyword.span, "a definition inside a declaration");
  const std::size_t depth = cursor_.depth();
  while (!cursor_.at("{") && !cursor_.at(";") && !cursor_.at_end()) cursor_.advance();
  if (cursor_.accept("{"))
    while (cursor_.depth() > depth && !cursor_.at_end()) cursor_.advance();
  return {ast::UnusableType{}, keyword.span};
}

void Parser::declarators(ast::Identifier& first, std::vector<ast::Identifier>& more, ast::TypeSpec& of) {
  first = declarator(of);
  while (cursor_.accept(",")) more.push_back(declarator(of));
}

ast::Identifier Parser::declarator(ast::TypeSpec& of, std::string_view what) {
  ast::Identifier name = identifier(what);
  if (!cursor_.at("[")) return name;
  unsupported(join(name.span, cursor_.current().span), "an array");
  while (cursor_.accept("[")) {
    expression();
    cursor_.expect("]");
  }
  of = {ast::UnusableType{}, of.span};
  return name;
}

ast::Identifier Parser::identifier(std::string_view what) {
  const Token token = cursor_.expect_identifier(what);
  std::string text(token.text);
  if (text.starts_with('_')) text.erase(0, 1);
  if (text.empty() || text.starts_with('_')) {
    cursor_.fail(token.span, quoted(token.text) + " is no name: an underscore escapes the word after it");
  }
  return {std::move(text), token.span};
}

ast::ScopedName Parser::scoped_name(std::string_view what) {
  ast::ScopedName result;
  const Span first = cursor_.current().span;
  result.absolute = cursor_.accept("::");
  do result.parts.push_back(identifier(result.parts.empty() ? what : "a name after `::`"));
  while (cursor_.accept("::"));
  result.span = join(first, cursor_.previous().span);
  return result;
}

// All annotations in front of a declaration; stops before an "@annotation" declaration.
ast::Annotations Parser::annotations() {
  ast::Annotations result;
  while (cursor_.at("@") && cursor_.ahead(1).text != "annotation") result.push_back(annotation());
  return result;
}

ast::Annotation Parser::annotation() {
  ast::Annotation result;
  const Span first = cursor_.expect("@").span;
  if (cursor_.at(TokenKind::keyword)) {  // @default
    const Token word = cursor_.advance();
    result.name = {false, {{std::string(word.text), word.span}}, word.span};
  } else {
    result.name = scoped_name("an annotation's name");
  }
  result.span = join(first, result.name.span);
  if (!cursor_.accept("(")) return result;
  if (!cursor_.at(")")) {
    do result.parameters.push_back(annotation_parameter());
    while (cursor_.accept(","));
  }
  if (!cursor_.at(")")) cursor_.fail_expected("`,` or `)`");
  cursor_.advance();
  result.span = join(first, cursor_.previous().span);
  return result;
}

ast::AnnotationParameter Parser::annotation_parameter() {
  ast::AnnotationParameter result;
  const bool is_word = cursor_.at(TokenKind::identifier) || cursor_.at(TokenKind::keyword);
  if (is_word && cursor_.ahead(1).is("=")) {
    const Token word = cursor_.advance();
    result.name = {std::string(word.text), word.span};
    cursor_.advance();
  }
  result.value = expression();
  return result;
}

}  // namespace corelane::idl
