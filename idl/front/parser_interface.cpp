#include <utility>

#include "idl/front/parser.h"

namespace corelane::idl {

void Parser::interface_declaration(ast::Definition& definition) {
  if (cursor_.at(";")) {
    definition.node = ast::ForwardInterface{};
    return;
  }
  ast::Interface result;
  if (cursor_.accept(":")) {
    do result.bases.push_back(scoped_name("a base interface"));
    while (cursor_.accept(","));
  }
  cursor_.expect("{");
  definitions(result.body, Body::interface);
  cursor_.expect("}");
  definition.node = std::move(result);
}

Parser::DefinitionPtr Parser::operation_or_attribute() {
  const bool readonly = cursor_.at("readonly");
  if (cursor_.at("attribute") || readonly) return attribute();
  return operation();
}

Parser::DefinitionPtr Parser::attribute() {
  const Token keyword = cursor_.current();
  ast::Attribute result;
  result.readonly = cursor_.accept("readonly");
  cursor_.expect("attribute");
  result.type = type("an attribute's type");
  ast::Identifier name;
  declarators(name, result.more, result.type);
  if (result.readonly && cursor_.accept("raises")) {
    result.get_raises = exception_names();
  } else if (!result.readonly) {
    if (cursor_.accept("getraises")) result.get_raises = exception_names();
    if (cursor_.accept("setraises")) result.set_raises = exception_names();
  }
  cursor_.expect(";");
  DefinitionPtr definition = made(std::move(name), keyword, {});
  definition->node = std::move(result);
  return definition;
}

Parser::DefinitionPtr Parser::operation() {
  const Token keyword = cursor_.current();
  ast::Operation result;
  if (cursor_.accept("oneway")) result.oneway = keyword.span;
  if (cursor_.at("void")) {
    result.result = {ast::BasicType::void_, cursor_.advance().span};
  } else {
    result.result = type("an operation, an attribute or `}`");
  }
  DefinitionPtr definition = made(identifier("an operation's name"), keyword, {});
  cursor_.expect("(");
  if (!cursor_.at(")")) {
    do result.parameters.push_back(parameter());
    while (cursor_.accept(","));
  }
  if (!cursor_.at(")")) cursor_.fail_expected("`,` or `)`");
  cursor_.expect(")");
  if (cursor_.accept("raises")) result.raises = exception_names();
  if (cursor_.at("context")) {
    unsupported(cursor_.current().span, "`context`");
    while (!cursor_.at(";") && !cursor_.at("}") && !cursor_.at_end()) cursor_.advance();
  }
  cursor_.expect(";");
  definition->node = std::move(result);
  return definition;
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
  result.name = declarator(result.type, "a parameter's name");
  return result;
}

std::vector<ast::ScopedName> Parser::exception_names() {
  std::vector<ast::ScopedName> result;
  cursor_.expect("(");
  do result.push_back(scoped_name("an exception"));
  while (cursor_.accept(","));
  cursor_.expect(")");
  return result;
}

}  // namespace corelane::idl
