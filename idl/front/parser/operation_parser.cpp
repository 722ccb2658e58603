#include "idl/front/parser/operation_parser.h"

#include <utility>

namespace corelane::idl {

DefinitionPtr OperationParser::state_member(const Token& keyword) {
  ast::State body;
  body.is_public = keyword.is("public");
  body.member.type = types_.parse("a state member's type", Inline::allowed);
  body.member.declarators = types_.declarators();
  DefinitionPtr result = make_definition(body.member.declarators.front().name, keyword);
  result->node = std::move(body);
  return result;
}

DefinitionPtr OperationParser::factory(const Token& keyword) {
  DefinitionPtr result = names_.definition(keyword);
  ast::Factory body;
  body.parameters = parameters();
  if (cursor_.accept("raises")) body.raises = exception_names();
  result->node = std::move(body);
  return result;
}

DefinitionPtr OperationParser::operation_or_attribute() {
  DefinitionPtr result = cursor_.at("attribute") || cursor_.at("readonly") ? attribute() : operation();
  cursor_.expect(";");
  return result;
}

DefinitionPtr OperationParser::attribute() {
  const Token keyword = cursor_.current();
  ast::Attribute body;
  body.readonly = cursor_.accept("readonly");
  cursor_.expect("attribute");
  body.type = types_.parse("an attribute's type");
  DefinitionPtr result = make_definition(names_.simple_declarator("an attribute's name"), keyword);
  while (cursor_.accept(",")) body.more.push_back(names_.simple_declarator("an attribute's name"));
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
      state_.diagnostics.warning(Warning::lenient, cursor_.current().span, "`getraises` stands before `setraises`");
      cursor_.advance();
      body.get_raises = exception_names();
    }
  }
  result->node = std::move(body);
  return result;
}

DefinitionPtr OperationParser::operation() {
  const Token keyword = cursor_.current();
  ast::Operation body;
  if (cursor_.accept("oneway")) body.oneway = keyword.span;
  if (cursor_.at("void")) {
    body.result = {ast::BasicType::void_, cursor_.advance().span};
  } else {
    body.result = types_.parse("an operation, an attribute or `}`");
  }
  DefinitionPtr result = make_definition(names_.identifier("an operation's name"), keyword);
  body.parameters = parameters();
  if (cursor_.current().text == "throws")
    cursor_.fail(cursor_.current().span, "write `raises (E)`, as IDL has it, for `throws E`");
  if (cursor_.accept("raises")) body.raises = exception_names();
  if (cursor_.accept("context")) body.contexts = context_names();
  result->node = std::move(body);
  return result;
}

std::vector<ast::Parameter> OperationParser::parameters() {
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

ast::Parameter OperationParser::parameter() {
  ast::Parameter result;
  result.annotations = annotations_.parse();
  result.direction_span = cursor_.current().span;
  if (cursor_.accept("out")) {
    result.direction = ast::Direction::out;
  } else if (cursor_.accept("inout")) {
    result.direction = ast::Direction::inout;
  } else if (!cursor_.accept("in")) {
    cursor_.fail_expected("`in`, `out` or `inout`");
  }
  result.type = types_.parse("a parameter's type");
  result.name = names_.simple_declarator("a parameter's name");
  return result;
}

std::vector<ast::ScopedName> OperationParser::exception_names() {
  cursor_.expect("(");
  std::vector<ast::ScopedName> result = names_.scoped_names("an exception");
  cursor_.expect(")");
  return result;
}

std::vector<ast::ContextName> OperationParser::context_names() {
  std::vector<ast::ContextName> result;
  cursor_.expect("(");
  do {
    const Span span = cursor_.current().span;
    if (!cursor_.at(TokenKind::string)) cursor_.fail_expected("a string");
    result.push_back({expressions_.strings(), span});
  } while (cursor_.accept(","));
  cursor_.expect(")");
  return result;
}

}  // namespace corelane::idl
