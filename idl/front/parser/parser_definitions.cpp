#include <utility>

#include "idl/front/lexer/literals.h"
#include "idl/front/parser/parser.h"

namespace corelane::idl {

// Returns whether the tokens are a scoped name and a body, as in "A::B {".
bool Parser::has_body_after_scoped_name() const {
  constexpr std::size_t longest_name = 64;  // in tokens; only the message for a longer one differs
  std::size_t at = 0;
  while (at < longest_name && (cursor_.ahead(at).is("::") || cursor_.ahead(at).is(TokenKind::identifier))) ++at;
  return cursor_.ahead(at).is("{");
}

Parser::DefinitionPtr Parser::module_rule(const Token& keyword) {
  const bool instance = cursor_.at("::") || cursor_.ahead(1).is("::");  // module ::A::Typed<long> X;
  if (instance || cursor_.ahead(1).is("<")) {
    diagnostics_.error(
        cursor_.current().span,
        has_body_after_scoped_name()
            ? "the name of a module is one word: nest the modules, as in `module A { module B { ... }; };`"
            : "a template module is not supported");
    skip_construct();
    return made({}, keyword);
  }
  DefinitionPtr result = named(keyword);
  if (++module_depth_ > deepest_module) cursor_.fail(keyword.span, "modules are nested too deeply");
  ast::Module body;
  cursor_.expect("{");
  if (cursor_.at("}"))
    diagnostics_.warning(Warning::lenient, result->name.span, "a module holds at least one definition");
  definitions(body.body, in_module);
  cursor_.expect("}");
  result->node = std::move(body);
  --module_depth_;
  return result;
}

Parser::DefinitionPtr Parser::structure(const Token& keyword) {
  DefinitionPtr result = named(keyword);
  if (cursor_.at(";")) {
    result->node = ast::ForwardStructure{};
    return result;
  }
  ast::Structure body;
  if (cursor_.accept(":")) body.base = scoped_name("a base struct");
  cursor_.expect("{");
  body.members = members();
  cursor_.expect("}");
  result->node = std::move(body);
  return result;
}

// union U switch (type) { case 1: case 2: long a; default: string b; }
Parser::DefinitionPtr Parser::union_rule(const Token& keyword) {
  DefinitionPtr result = named(keyword);
  if (cursor_.at(";")) {
    result->node = ast::ForwardUnion{};
    return result;
  }
  ast::Union body;
  cursor_.expect("switch");
  cursor_.expect("(");
  body.discriminator_annotations = annotations();
  body.discriminator = type("the type of the discriminator", Inline::allowed);
  cursor_.expect(")");
  cursor_.expect("{");
  if (cursor_.at("}")) cursor_.fail_expected("`case` or `default`");
  while (!cursor_.at_end() && !cursor_.at("}")) recovering([&] { body.branches.push_back(branch()); });
  cursor_.expect("}");
  result->node = std::move(body);
  return result;
}

ast::Branch Parser::branch() {
  ast::Branch result;
  result.labels = labels();
  if (result.labels.empty()) cursor_.fail_expected("`case` or `default`");
  result.annotations = annotations();
  result.type = type("the type of a union's member", Inline::allowed);
  result.declarator = declarator();
  cursor_.expect(";");
  return result;
}

std::vector<ast::Label> Parser::labels() {
  std::vector<ast::Label> result;
  while (cursor_.at("case") || cursor_.at("default")) {
    const Token keyword = cursor_.advance();
    if (keyword.is("default")) {
      result.push_back({nullptr, keyword.span});
    } else {
      ast::ExpressionPtr value = expression();
      const Span span = value->span;
      result.push_back({std::move(value), span});
    }
    cursor_.expect(":");
  }
  return result;
}

Parser::DefinitionPtr Parser::exception(const Token& keyword) {
  DefinitionPtr result = named(keyword);
  cursor_.expect("{");
  result->node = ast::Exception{members()};
  cursor_.expect("}");
  return result;
}

std::vector<ast::Member> Parser::members() {
  std::vector<ast::Member> result;
  while (!cursor_.at_end() && !cursor_.at("}")) recovering([&] { result.push_back(member()); });
  return result;
}

ast::Member Parser::member() {
  ast::Member result;
  result.annotations = annotations();
  result.type = type("a member's type", Inline::allowed);
  result.declarators = declarators();
  cursor_.expect(";");
  return result;
}

Parser::DefinitionPtr Parser::enumeration(const Token& keyword) {
  DefinitionPtr result = named(keyword);
  result->node = ast::Enumeration{enumerators("an enumerator")};
  return result;
}

Parser::DefinitionPtr Parser::bitmask(const Token& keyword) {
  DefinitionPtr result = named(keyword);
  result->node = ast::Bitmask{enumerators("a bit")};
  return result;
}

std::vector<ast::Enumerator> Parser::enumerators(std::string_view what) {
  std::vector<ast::Enumerator> result;
  cursor_.expect("{");
  do {
    if (cursor_.at("}") && !result.empty()) {
      cursor_.fail(cursor_.previous().span, "expected " + std::string(what) + " after this comma");
    }
    ast::Annotations notes = annotations();
    result.push_back({std::move(notes), identifier(what)});
  } while (cursor_.accept(","));
  cursor_.expect("}");
  return result;
}

// bitset B : A { bitfield<3> a, b; bitfield<2>; bitfield<10, short> c; }
Parser::DefinitionPtr Parser::bitset(const Token& keyword) {
  DefinitionPtr result = named(keyword);
  ast::Bitset body;
  if (cursor_.accept(":")) body.base = scoped_name("a base bitset");
  cursor_.expect("{");
  while (!cursor_.at_end() && !cursor_.at("}")) recovering([&] { body.fields.push_back(bitfield()); });
  cursor_.expect("}");
  result->node = std::move(body);
  return result;
}

ast::Bitfield Parser::bitfield() {
  ast::Bitfield result;
  result.annotations = annotations();
  if (cursor_.current().text != "bitfield") cursor_.fail_expected("`bitfield`");
  result.span = cursor_.advance().span;
  cursor_.expect("<");
  result.bits = bound();
  if (cursor_.accept(",")) result.type = type("the type of a bit field");
  cursor_.expect_closing_angle();
  // The grammar has blanks between the names; most people write commas.
  while (!cursor_.at(";")) {
    result.names.push_back(identifier("a bit field's name"));
    if (cursor_.accept(",") && cursor_.at(";")) cursor_.fail_expected("a bit field's name");
  }
  cursor_.expect(";");
  return result;
}

Parser::DefinitionPtr Parser::type_definition(const Token& keyword) {
  ast::Typedef body;
  body.type = type("a type", Inline::allowed);
  body.declarators = declarators();
  DefinitionPtr result = made(body.declarators.front().name, keyword);
  result->node = std::move(body);
  return result;
}

Parser::DefinitionPtr Parser::native(const Token& keyword) {
  DefinitionPtr result = named(keyword);
  result->node = ast::Native{};
  return result;
}

Parser::DefinitionPtr Parser::constant(const Token& keyword) {
  ast::Constant body;
  body.type = type("a constant's type");
  DefinitionPtr result = named(keyword, "a constant's name");
  cursor_.expect("=");
  body.value = expression();
  result->node = std::move(body);
  return result;
}

// typeid M::I "IDL:...:1.0";
Parser::DefinitionPtr Parser::type_id(const Token& keyword) {
  ast::IdDirective body{.kind = ast::IdDirective::Kind::type_id, .target = scoped_name(), .argument = {}};
  if (!cursor_.at(TokenKind::string)) cursor_.fail_expected("a string");
  body.argument = strings();
  DefinitionPtr result = made({}, keyword);
  result->node = std::move(body);
  return result;
}

Parser::DefinitionPtr Parser::type_prefix(const Token& keyword) {
  DefinitionPtr result = type_id(keyword);
  std::get<ast::IdDirective>(result->node).kind = ast::IdDirective::Kind::typeprefix;
  return result;
}

Parser::DefinitionPtr Parser::import(const Token& keyword) {
  ast::Import body;
  if (cursor_.at(TokenKind::string)) {
    const Span span = cursor_.current().span;
    body.name = {true, {{strings(), span}}, span};
  } else {
    body.name = scoped_name("a name or a string");
  }
  DefinitionPtr result = made({}, keyword);
  result->node = std::move(body);
  return result;
}

// @annotation name { type parameter [default value]; enum E { a }; ... };
Parser::DefinitionPtr Parser::annotation_declaration() {
  const Token keyword = cursor_.expect("@");
  cursor_.advance();  // "annotation", seen by annotations()
  DefinitionPtr result = made(identifier("an annotation's name"), keyword);
  ast::AnnotationDeclaration body;
  cursor_.expect("{");
  while (!cursor_.at_end() && !cursor_.at("}")) {
    if (entry_here(in_annotation) != nullptr) {
      one_definition(body.body, in_annotation);
    } else {
      recovering([&] { annotation_parameter_declaration(body); });
    }
  }
  cursor_.expect("}");
  cursor_.expect(";");
  result->node = std::move(body);
  return result;
}

void Parser::annotation_parameter_declaration(ast::AnnotationDeclaration& into) {
  ast::AnnotationParameterDeclaration parameter;
  parameter.type = type("a parameter's type");
  parameter.name = identifier("a parameter's name");
  if (cursor_.accept("default")) parameter.default_value = expression();
  cursor_.expect(";");
  into.parameters.push_back(std::move(parameter));
}

}  // namespace corelane::idl
