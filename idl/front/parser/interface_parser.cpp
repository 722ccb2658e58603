#include "idl/front/parser/interface_parser.h"

#include <utility>

namespace corelane::idl {

DefinitionPtr InterfaceParser::plain_interface(const Token& keyword) {
  return interface_rule(keyword, ast::InterfaceKind::unconstrained);
}

DefinitionPtr InterfaceParser::local_interface(const Token& keyword) {
  cursor_.expect("interface");
  return interface_rule(keyword, ast::InterfaceKind::local);
}

// The word of old texts for what is local today.
DefinitionPtr InterfaceParser::pseudo_interface(const Token& keyword) {
  state_.diagnostics.warning(Warning::lenient, keyword.span, "write `local` in place of `pseudo`");
  return local_interface(keyword);
}

DefinitionPtr InterfaceParser::abstract_rule(const Token& keyword) {
  if (cursor_.accept("valuetype")) return valuetype(keyword, ast::ValueKind::abstract);
  if (!cursor_.at("interface")) cursor_.fail_expected("`interface` or `valuetype`");
  cursor_.advance();
  return interface_rule(keyword, ast::InterfaceKind::abstract);
}

DefinitionPtr InterfaceParser::interface_rule(const Token& keyword, ast::InterfaceKind kind) {
  DefinitionPtr result = names_.definition(keyword, "a name after `interface`");
  if (cursor_.at(";")) {
    result->node = ast::ForwardInterface{kind};
    return result;
  }
  ast::Interface body{.kind = kind, .bases = {}, .body = {}};
  if (cursor_.accept(":")) body.bases = names_.scoped_names("a base interface");
  cursor_.expect("{");
  definitions_.definitions(body.body, in_interface);
  cursor_.expect("}");
  result->node = std::move(body);
  return result;
}

DefinitionPtr InterfaceParser::plain_valuetype(const Token& keyword) {
  return valuetype(keyword, ast::ValueKind::concrete);
}

DefinitionPtr InterfaceParser::custom_valuetype(const Token& keyword) {
  cursor_.expect("valuetype");
  return valuetype(keyword, ast::ValueKind::custom);
}

DefinitionPtr InterfaceParser::valuetype(const Token& keyword, ast::ValueKind kind) {
  DefinitionPtr result = names_.definition(keyword, "a name after `valuetype`");
  if (cursor_.at(";") && kind != ast::ValueKind::custom) {
    result->node = ast::ForwardValue{kind == ast::ValueKind::abstract};
    return result;
  }
  const bool has_body = cursor_.at(":") || cursor_.at("supports") || cursor_.at("{");
  if (!has_body && kind == ast::ValueKind::concrete) {
    result->node = ast::ValueBox{types_.parse("`{`, `:`, `supports`, `;` or the type of a value box", Inline::allowed)};
    return result;
  }
  ast::Valuetype body;
  body.kind = kind;
  if (cursor_.accept(":")) {
    if (cursor_.at("truncatable")) body.truncatable = cursor_.advance().span;
    body.bases = names_.scoped_names("a base valuetype");
  }
  if (cursor_.accept("supports")) body.supports = names_.scoped_names("an interface");
  cursor_.expect("{");
  definitions_.definitions(body.body, in_value);
  cursor_.expect("}");
  result->node = std::move(body);
  return result;
}

}  // namespace corelane::idl
