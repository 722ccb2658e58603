#include <memory>
#include <utility>

#include "idl/ast/keywords.h"
#include "idl/front/parser/parser.h"

namespace corelane::idl {

using ast::BasicType;

ast::TypeSpec Parser::type(std::string_view what, Inline constructs) {
  if (++type_depth_ > deepest_type) cursor_.fail(cursor_.current().span, "types are nested too deeply");
  ast::TypeSpec result = type_inside(what, constructs);
  --type_depth_;
  return result;
}

ast::TypeSpec Parser::type_inside(std::string_view what, Inline constructs) {
  const Token& first = cursor_.current();
  if (first.is(TokenKind::keyword)) return keyword_type(what, constructs);
  if (!first.is(TokenKind::identifier) && !first.is("::")) cursor_.fail_expected(what);
  if (first.text == "map" && cursor_.ahead(1).is("<")) return map_type();
  ast::ScopedName name = scoped_name();
  const Span span = name.span;
  if (name.parts.back().text == "vector" && cursor_.at("<"))
    cursor_.fail(span, "write `sequence<T>`, as IDL has it, for " + quoted(ast::to_string(name) + "<T>"));
  return {std::move(name), span};
}

ast::TypeSpec Parser::keyword_type(std::string_view what, Inline constructs) {
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

ast::TypeSpec Parser::integer_type() {
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

// An expression in front of '>' or ','.
ast::ExpressionPtr Parser::bound() {
  const bool before = std::exchange(in_angles_, true);
  ast::ExpressionPtr result = expression();
  in_angles_ = before;
  return result;
}

ast::TypeSpec Parser::string_type() {
  const Token keyword = cursor_.advance();
  ast::StringOf result{.wide = keyword.is("wstring"), .bound = nullptr};
  if (cursor_.accept("<")) {
    result.bound = bound();
    cursor_.expect_closing_angle();
  }
  return {std::move(result), join(keyword.span, cursor_.previous().span)};
}

// sequence<@try_construct(TRIM) string<5> >
ast::TypeSpecPtr Parser::element_type(std::string_view what) {
  ast::Annotations notes = annotations();
  auto result = std::make_unique<ast::TypeSpec>(type(what));
  result->annotations = std::move(notes);
  return result;
}

ast::TypeSpec Parser::sequence_type() {
  const Token keyword = cursor_.advance();
  ast::SequenceOf result;
  cursor_.expect("<");
  result.element = element_type("the type of an element");
  if (cursor_.accept(",")) result.bound = bound();
  cursor_.expect_closing_angle();
  return {std::move(result), join(keyword.span, cursor_.previous().span)};
}

ast::TypeSpec Parser::map_type() {
  const Token keyword = cursor_.advance();
  ast::MapOf result;
  cursor_.expect("<");
  result.key = element_type("the type of a key");
  cursor_.expect(",");
  result.element = element_type("the type of a value");
  if (cursor_.accept(",")) result.bound = bound();
  cursor_.expect_closing_angle();
  return {std::move(result), join(keyword.span, cursor_.previous().span)};
}

ast::TypeSpec Parser::fixed_type() {
  const Token keyword = cursor_.advance();
  ast::FixedOf result;
  if (cursor_.accept("<")) {
    result.digits = bound();
    cursor_.expect(",");
    result.scale = bound();
    cursor_.expect_closing_angle();
  }
  return {std::move(result), join(keyword.span, cursor_.previous().span)};
}

// A struct, union or enum that is defined where its type is used, as IDL 2 allowed.
ast::TypeSpec Parser::inline_construct() {
  const Token keyword = cursor_.advance();
  DefinitionPtr made = keyword.is("struct")  ? structure(keyword)
                       : keyword.is("union") ? union_rule(keyword)
                                             : enumeration(keyword);
  if (std::holds_alternative<ast::ForwardStructure>(made->node) ||
      std::holds_alternative<ast::ForwardUnion>(made->node)) {
    cursor_.fail_expected("`{`");
  }
  const Span span = join(keyword.span, made->name.span);
  ast::InlineDefinition result;
  result.one.push_back(std::move(made));
  return {std::move(result), span};
}

ast::TypeSpec Parser::misplaced_construct() {
  const Span at = cursor_.current().span;
  diagnostics_.error(at, "a struct, union or enum is defined before it is used here");
  complete_ = false;  // names are missing now
  while (!cursor_.at("{") && !cursor_.at(";") && !cursor_.at_end()) cursor_.advance();
  const std::size_t depth = cursor_.depth();
  if (cursor_.accept("{"))
    while (cursor_.depth() > depth && !cursor_.at_end()) cursor_.advance();
  return {ast::UnusableType{}, at};
}

std::vector<ast::Declarator> Parser::declarators() {
  std::vector<ast::Declarator> result;
  do result.push_back(declarator());
  while (cursor_.accept(","));
  return result;
}

ast::Declarator Parser::declarator() {
  ast::Declarator result{.name = identifier("a name"), .dimensions = {}};
  if (cursor_.at("@")) {
    const Span at = cursor_.current().span;
    result.annotations = annotations();
    if (!cursor_.at("["))
      cursor_.fail(at, "expected `;`, found `@` (an annotation behind a name is for the elements of an array)");
  }
  while (cursor_.accept("[")) {
    if (cursor_.at("]")) cursor_.fail(cursor_.current().span, "an array needs its length");
    if (result.dimensions.size() == deepest_type) cursor_.fail(cursor_.current().span, "types are nested too deeply");
    result.dimensions.push_back(expression());
    cursor_.expect("]");
  }
  return result;
}

ast::Identifier Parser::simple_declarator(std::string_view what) {
  ast::Identifier name = identifier(what);
  if (cursor_.at("[")) cursor_.fail(name.span, "an array needs a name of its own here: declare it with `typedef`");
  return name;
}

// A name that is declared.
ast::Identifier Parser::identifier(std::string_view what) {
  const Token token = cursor_.expect_identifier(what);
  if (const std::string_view keyword = keyword_like(token.text); !keyword.empty()) {
    std::string message = quoted(token.text) + " differs from the keyword " + quoted(keyword) +
                          " only in case (write " + quoted("_" + std::string(token.text)) + ")";
    if (is_late_keyword(keyword))
      diagnostics_.warning(Warning::keyword, token.span, std::move(message));
    else
      diagnostics_.error(token.span, std::move(message));
  }
  return unescaped(token);
}

ast::Identifier Parser::unescaped(const Token& token) {
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
  do result.parts.push_back(unescaped(cursor_.expect_identifier(result.parts.empty() ? what : "a name after `::`")));
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
