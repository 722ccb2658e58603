#include "idl/front/parser/declaration_parser.h"

#include <cstddef>
#include <utility>
#include <variant>

#include "idl/front/parser/unsupported.h"

namespace corelane::idl {
namespace {

// Returns whether the tokens are a scoped name and a body, as in "A::B {".
bool has_body_after_scoped_name(const TokenCursor& cursor) {
  constexpr std::size_t longest_name = 64;  // in tokens; only the message for a longer one differs
  std::size_t at = 0;
  while (at < longest_name && (cursor.ahead(at).is("::") || cursor.ahead(at).is(TokenKind::identifier))) ++at;
  return cursor.ahead(at).is("{");
}

}  // namespace

DefinitionPtr DeclarationParser::module_rule(const Token& keyword) {
  const bool instance = cursor_.at("::") || cursor_.ahead(1).is("::");  // module ::A::Typed<long> X;
  if (instance || cursor_.ahead(1).is("<")) {
    state_.diagnostics.error(
        cursor_.current().span,
        has_body_after_scoped_name(cursor_)
            ? "the name of a module is one word: nest the modules, as in `module A { module B { ... }; };`"
            : "a template module is not supported");
    skip_construct(state_);
    return make_definition({}, keyword);
  }
  DefinitionPtr result = names_.definition(keyword);
  if (++state_.module_depth > deepest_module) cursor_.fail(keyword.span, "modules are nested too deeply");
  ast::Module body;
  cursor_.expect("{");
  if (cursor_.at("}"))
    state_.diagnostics.warning(Warning::lenient, result->name.span, "a module holds at least one definition");
  definitions_.definitions(body.body, in_module);
  cursor_.expect("}");
  result->node = std::move(body);
  --state_.module_depth;
  return result;
}

DefinitionPtr DeclarationParser::type_definition(const Token& keyword) {
  ast::Typedef body;
  body.type = types_.parse("a type", Inline::allowed);
  body.declarators = types_.declarators();
  DefinitionPtr result = make_definition(body.declarators.front().name, keyword);
  result->node = std::move(body);
  return result;
}

DefinitionPtr DeclarationParser::native(const Token& keyword) {
  DefinitionPtr result = names_.definition(keyword);
  result->node = ast::Native{};
  return result;
}

DefinitionPtr DeclarationParser::constant(const Token& keyword) {
  ast::Constant body;
  body.type = types_.parse("a constant's type");
  DefinitionPtr result = names_.definition(keyword, "a constant's name");
  cursor_.expect("=");
  body.value = expressions_.parse();
  result->node = std::move(body);
  return result;
}

// typeid M::I "IDL:...:1.0";
DefinitionPtr DeclarationParser::type_id(const Token& keyword) {
  ast::IdDirective body{.kind = ast::IdDirective::Kind::type_id, .target = names_.scoped_name(), .argument = {}};
  if (!cursor_.at(TokenKind::string)) cursor_.fail_expected("a string");
  body.argument = expressions_.strings();
  DefinitionPtr result = make_definition({}, keyword);
  result->node = std::move(body);
  return result;
}

DefinitionPtr DeclarationParser::type_prefix(const Token& keyword) {
  DefinitionPtr result = type_id(keyword);
  std::get<ast::IdDirective>(result->node).kind = ast::IdDirective::Kind::typeprefix;
  return result;
}

DefinitionPtr DeclarationParser::import(const Token& keyword) {
  ast::Import body;
  if (cursor_.at(TokenKind::string)) {
    const Span span = cursor_.current().span;
    body.name = {true, {{expressions_.strings(), span}}, span};
  } else {
    body.name = names_.scoped_name("a name or a string");
  }
  DefinitionPtr result = make_definition({}, keyword);
  result->node = std::move(body);
  return result;
}

}  // namespace corelane::idl
