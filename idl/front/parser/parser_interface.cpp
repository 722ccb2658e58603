#include <utility>

#include "idl/front/parser/parser.h"

namespace corelane::idl {

Parser::DefinitionPtr Parser::plain_interface(const Token& keyword) {
  return interface_rule(keyword, ast::InterfaceKind::unconstrained);
}

Parser::DefinitionPtr Parser::local_interface(const Token& keyword) {
  cursor_.expect("interface");
  return interface_rule(keyword, ast::InterfaceKind::local);
}

// The word of old texts for what is local today.
Parser::DefinitionPtr Parser::pseudo_interface(const Token& keyword) {
  diagnostics_.warning(Warning::lenient, keyword.span, "write `local` in place of `pseudo`");
  return local_interface(keyword);
}

Parser::DefinitionPtr Parser::abstract_rule(const Token& keyword) {
  if (cursor_.accept("valuetype")) return valuetype(keyword, ast::ValueKind::abstract);
  if (!cursor_.at("interface")) cursor_.fail_expected("`interface` or `valuetype`");
  cursor_.advance();
  return interface_rule(keyword, ast::InterfaceKind::abstract);
}

Parser::DefinitionPtr Parser::interface_rule(const Token& keyword, ast::InterfaceKind kind) {
  DefinitionPtr result = named(keyword, "a name after `interface`");
  if (cursor_.at(";")) {
    result->node = ast::ForwardInterface{kind};
    return result;
  }
  ast::Interface body{.kind = kind, .bases = {}, .body = {}};
  if (cursor_.accept(":")) body.bases = names("a base interface");
  cursor_.expect("{");
  definitions(body.body, in_interface);
  cursor_.expect("}");
  result->node = std::move(body);
  return result;
}

Parser::DefinitionPtr Parser::plain_valuetype(const Token& keyword) {
  return valuetype(keyword, ast::ValueKind::concrete);
}

Parser::DefinitionPtr Parser::custom_valuetype(const Token& keyword) {
  cursor_.expect("valuetype");
  return valuetype(keyword, ast::ValueKind::custom);
}

Parser::DefinitionPtr Parser::valuetype(const Token& keyword, ast::ValueKind kind) {
  DefinitionPtr result = named(keyword, "a name after `valuetype`");
  if (cursor_.at(";") && kind != ast::ValueKind::custom) {
    result->node = ast::ForwardValue{kind == ast::ValueKind::abstract};
    return result;
  }
  const bool has_body = cursor_.at(":") || cursor_.at("supports") || cursor_.at("{");
  if (!has_body && kind == ast::ValueKind::concrete) {
    result->node = ast::ValueBox{type("`{`, `:`, `supports`, `;` or the type of a value box", Inline::allowed)};
    return result;
  }
  ast::Valuetype body;
  body.kind = kind;
  if (cursor_.accept(":")) {
    if (cursor_.at("truncatable")) body.truncatable = cursor_.advance().span;
    body.bases = names("a base valuetype");
  }
  if (cursor_.accept("supports")) body.supports = names("an interface");
  cursor_.expect("{");
  definitions(body.body, in_value);
  cursor_.expect("}");
  result->node = std::move(body);
  return result;
}

std::vector<ast::ScopedName> Parser::names(std::string_view what) {
  std::vector<ast::ScopedName> result;
  do result.push_back(scoped_name(what));
  while (cursor_.accept(","));
  return result;
}

Parser::DefinitionPtr Parser::state(const Token& keyword) {
  ast::State body;
  body.is_public = keyword.is("public");
  body.member.type = type("a state member's type", Inline::allowed);
  body.member.declarators = declarators();
  DefinitionPtr result = made(body.member.declarators.front().name, keyword);
  result->node = std::move(body);
  return result;
}

Parser::DefinitionPtr Parser::factory(const Token& keyword) {
  DefinitionPtr result = named(keyword);
  ast::Factory body;
  body.parameters = parameters();
  if (cursor_.accept("raises")) body.raises = exception_names();
  result->node = std::move(body);
  return result;
}

Parser::DefinitionPtr Parser::operation_or_attribute() {
  DefinitionPtr result = cursor_.at("attribute") || cursor_.at("readonly") ? attribute() : operation();
  cursor_.expect(";");
  return result;
}

Parser::DefinitionPtr Parser::attribute() {
  const Token keyword = cursor_.current();
  ast::Attribute body;
  body.readonly = cursor_.accept("readonly");
  cursor_.expect("attribute");
  body.type = type("an attribute's type");
  DefinitionPtr result = made(simple_declarator("an attribute's name"), keyword);
  while (cursor_.accept(",")) body.more.push_back(simple_declarator("an attribute's name"));
  if (body.readonly) {
    if (cursor_.accept("raises")) body.get_raises = exception_names();
    if (cursor_.at("getraises") || cursor_.at("setraises"))
      cursor_.fail(cursor_.current().span,
                   "a readonly attribute has `raises` in place of " + quoted(cursor_.current().text));
  } else {
    if (cursor_.at("raises"))
      cursor_.fail(cursor_.current().span,
                   "an attribute has `getraises` and `setraises`; `raises` is for readonly ones");
    if (cursor_.accept("getraises")) body.get_raises = exception_names();
    if (cursor_.accept("setraises")) body.set_raises = exception_names();
    if (body.get_raises.empty() && cursor_.at("getraises")) {
      diagnostics_.warning(Warning::lenient, cursor_.current().span, "`getraises` stands before `setraises`");
      cursor_.advance();
      body.get_raises = exception_names();
    }
  }
  result->node = std::move(body);
  return result;
}

Parser::DefinitionPtr Parser::operation() {
  const Token keyword = cursor_.current();
  ast::Operation body;
  if (cursor_.accept("oneway")) body.oneway = keyword.span;
  if (cursor_.at("void")) {
    body.result = {ast::BasicType::void_, cursor_.advance().span};
  } else {
    body.result = type("an operation, an attribute or `}`");
  }
  DefinitionPtr result = made(identifier("an operation's name"), keyword);
  body.parameters = parameters();
  if (cursor_.current().text == "throws")
    cursor_.fail(cursor_.current().span, "write `raises (E)`, as IDL has it, for `throws E`");
  if (cursor_.accept("raises")) body.raises = exception_names();
  if (cursor_.accept("context")) body.contexts = context_names();
  result->node = std::move(body);
  return result;
}

std::vector<ast::Parameter> Parser::parameters() {
  std::vector<ast::Parameter> result;
  cursor_.expect("(");
  if (!cursor_.at(")")) {
    do result.push_back(parameter());
    while (cursor_.accept(","));
  }
  if (!cursor_.at(")")) cursor_.fail_expected("`,` or `)`");
  cursor_.advance();
  return result;
}

ast::Parameter Parser::parameter() {
  ast::Parameter result;
  result.annotations = annotations();
  result.direction_span = cursor_.current().span;
  if (cursor_.accept("out")) {
    result.direction = ast::Direction::out;
  } else if (cursor_.accept("inout")) {
    result.direction = ast::Direction::inout;
  } else if (!cursor_.accept("in")) {
    cursor_.fail_expected("`in`, `out` or `inout`");
  }
  result.type = type("a parameter's type");
  result.name = simple_declarator("a parameter's name");
  return result;
}

std::vector<ast::ScopedName> Parser::exception_names() {
  cursor_.expect("(");
  std::vector<ast::ScopedName> result = names("an exception");
  cursor_.expect(")");
  return result;
}

std::vector<ast::ContextName> Parser::context_names() {
  std::vector<ast::ContextName> result;
  cursor_.expect("(");
  do {
    const Span span = cursor_.current().span;
    if (!cursor_.at(TokenKind::string)) cursor_.fail_expected("a string");
    result.push_back({strings(), span});
  } while (cursor_.accept(","));
  cursor_.expect(")");
  return result;
}

}  // namespace corelane::idl
