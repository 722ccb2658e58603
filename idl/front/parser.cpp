#include "idl/front/parser.h"

#include <memory>
#include <utility>

#include "idl/front/lexer.h"
#include "idl/front/literals.h"

namespace corelane::idl {

Parsed parse(const std::vector<Token>& tokens, Diagnostics& diagnostics) { return Parser(tokens, diagnostics).run(); }

Parsed Parser::run() {
  Parsed result;
  ast::Definitions& into = result.specification.definitions;
  // loop: definitions() returns at the end or at a '}', which is taken here
  for (;;) {
    definitions(into, Body::module);
    if (cursor_.at_end()) break;
    diagnostics_.error(cursor_.current().span, "this `}` closes nothing");
    complete_ = false;
    cursor_.advance();
    cursor_.accept(";");
  }
  add_pragmas(into);
  result.complete = complete_;
  return result;
}

// Up to the '}' of the body or the end of the file.
void Parser::definitions(ast::Definitions& into, Body kind) {
  add_pragmas(into);
  while (!cursor_.at_end() && !cursor_.at("}")) {
    one_definition(into, kind);
    add_pragmas(into);
  }
}

void Parser::one_definition(ast::Definitions& into, Body kind) {
  const std::size_t depth = cursor_.depth();
  const std::size_t modules = module_depth_;
  try {
    ast::Annotations notes = annotations();
    DefinitionPtr made = definition(kind);
    if (made == nullptr) return;
    made->annotations = std::move(notes);
    into.push_back(std::move(made));
  } catch (const SyntaxError&) {
    complete_ = false;
    module_depth_ = modules;
    type_depth_ = expression_depth_ = 0;
    cursor_.recover(depth);
  }
}

Parser::DefinitionPtr Parser::made(ast::Identifier name, const Token& keyword, ast::Annotations notes) const {
  auto definition = std::make_unique<ast::Definition>();
  definition->name = std::move(name);
  definition->keyword = keyword.span;
  definition->annotations = std::move(notes);
  return definition;
}

Parser::DefinitionPtr Parser::definition(Body kind) {
  if (cursor_.at(";")) {
    diagnostics_.warning(cursor_.current().span, "this `;` ends nothing");
    cursor_.advance();
    return nullptr;
  }
  if (cursor_.at("@")) return annotation_declaration();
  if (at_unsupported_definition()) return unsupported_definition();
  const Token keyword = cursor_.current();
  if (cursor_.accept("typedef")) return type_definition(keyword);
  if (cursor_.accept("const")) return constant(keyword);

  using Rule = void (Parser::*)(ast::Definition&);
  struct Entry {
    std::string_view keyword;
    Rule rule;
    bool in_interfaces;
  };
  constexpr Entry entries[] = {{"module", &Parser::module_body, false},
                               {"interface", &Parser::interface_declaration, false},
                               {"struct", &Parser::structure, true},
                               {"exception", &Parser::exception, true},
                               {"enum", &Parser::enumeration, true}};
  for (const Entry& entry : entries) {
    if (!cursor_.at(entry.keyword) || (kind == Body::interface && !entry.in_interfaces)) continue;
    cursor_.advance();
    DefinitionPtr result = made(identifier("a name after " + quoted(entry.keyword)), keyword, {});
    (this->*entry.rule)(*result);
    cursor_.expect(";");
    return result;
  }
  if (kind == Body::interface) return operation_or_attribute();
  cursor_.fail_expected("a definition");
}

void Parser::module_body(ast::Definition& definition) {
  if (++module_depth_ > deepest_module) cursor_.fail(definition.keyword, "modules are nested too deeply");
  ast::Module module;
  cursor_.expect("{");
  definitions(module.body, Body::module);
  cursor_.expect("}");
  definition.node = std::move(module);
  --module_depth_;
}

void Parser::structure(ast::Definition& definition) {
  if (cursor_.at(";")) {
    definition.node = ast::ForwardStructure{};
    return;
  }
  if (cursor_.at(":")) {
    unsupported(cursor_.current().span, "inheritance of structs");
    cursor_.advance();
    scoped_name();
  }
  cursor_.expect("{");
  if (cursor_.at("}")) unsupported(definition.name.span, "a struct without members");
  ast::Structure structure{members()};
  cursor_.expect("}");
  definition.node = std::move(structure);
}

void Parser::exception(ast::Definition& definition) {
  cursor_.expect("{");
  definition.node = ast::Exception{members()};
  cursor_.expect("}");
}

std::vector<ast::Member> Parser::members() {
  std::vector<ast::Member> result;
  const std::size_t depth = cursor_.depth();
  while (!cursor_.at_end() && !cursor_.at("}")) {
    try {
      result.push_back(member());
    } catch (const SyntaxError&) {
      complete_ = false;
      type_depth_ = expression_depth_ = 0;
      cursor_.recover(depth);
    }
  }
  return result;
}

ast::Member Parser::member() {
  ast::Member result;
  result.annotations = annotations();
  result.type = type("a member's type");
  ast::Identifier first;
  std::vector<ast::Identifier> more;
  declarators(first, more, result.type);
  result.names.push_back(std::move(first));
  for (ast::Identifier& name : more) result.names.push_back(std::move(name));
  cursor_.expect(";");
  return result;
}

void Parser::enumeration(ast::Definition& definition) {
  ast::Enumeration result;
  cursor_.expect("{");
  do {
    if (cursor_.at("}") && !result.enumerators.empty()) {
      cursor_.fail(cursor_.previous().span, "expected an enumerator after this comma");
    }
    ast::Annotations notes = annotations();
    result.enumerators.push_back({std::move(notes), identifier("an enumerator")});
  } while (cursor_.accept(","));
  cursor_.expect("}");
  definition.node = std::move(result);
}

Parser::DefinitionPtr Parser::type_definition(const Token& keyword) {
  ast::Typedef result;
  result.type = type();
  ast::Identifier name;
  declarators(name, result.more, result.type);
  cursor_.expect(";");
  DefinitionPtr definition = made(std::move(name), keyword, {});
  definition->node = std::move(result);
  return definition;
}

Parser::DefinitionPtr Parser::constant(const Token& keyword) {
  ast::Constant result;
  result.type = type("a constant's type");
  DefinitionPtr definition = made(identifier("a constant's name"), keyword, {});
  cursor_.expect("=");
  result.value = expression();
  cursor_.expect(";");
  definition->node = std::move(result);
  return definition;
}

// @annotation name { type parameter [default value]; ... };
Parser::DefinitionPtr Parser::annotation_declaration() {
  const Token keyword = cursor_.expect("@");
  cursor_.advance();  // "annotation", seen by annotations()
  DefinitionPtr definition = made(identifier("an annotation's name"), keyword, {});
  ast::AnnotationDeclaration result;
  cursor_.expect("{");
  while (!cursor_.at_end() && !cursor_.at("}")) {
    ast::AnnotationParameterDeclaration parameter;
    parameter.type = type("a parameter's type");
    parameter.name = identifier("a parameter's name");
    if (cursor_.accept("default")) parameter.default_value = expression();
    cursor_.expect(";");
    result.parameters.push_back(std::move(parameter));
  }
  cursor_.expect("}");
  cursor_.expect(";");
  definition->node = std::move(result);
  return definition;
}

void Parser::add_pragmas(ast::Definitions& into) {
  for (const Token& token : cursor_.take_pragmas())
    if (auto definition = pragma(token)) into.push_back(*std::move(definition));
}

// prefix "text" | ID name "text" | version name major.minor. Others belong to other compilers.
std::optional<Parser::DefinitionPtr> Parser::pragma(const Token& token) {
  Preprocessed body{std::string(token.text.substr(std::string_view("#pragma").size())), {}};
  Diagnostics ignored;
  const SourceMap no_sources;
  const std::vector<Token> words = tokenize(body, no_sources, ignored);
  const std::string_view kind = words.front().text;
  if (kind != "prefix" && kind != "ID" && kind != "version") return std::nullopt;
  const auto wrong = [&](const char* form) {
    diagnostics_.error(token.span, std::string("expected #pragma ") + form);
    complete_ = false;
    return std::nullopt;
  };

  ast::Pragma result;
  std::size_t at = 1;
  if (kind != "prefix") {
    result.kind = kind == "ID" ? ast::Pragma::Kind::id : ast::Pragma::Kind::version;
    for (; words[at].is("::") || words[at].is(TokenKind::identifier); ++at) {
      if (words[at].is("::") && at == 1) result.target.absolute = true;
      if (words[at].is(TokenKind::identifier)) result.target.parts.push_back({std::string(words[at].text), token.span});
    }
    result.target.span = token.span;
    if (result.target.parts.empty()) return wrong(kind == "ID" ? "ID name \"text\"" : "version name major.minor");
  }
  if (kind == "version") {
    if (!words[at].is(TokenKind::floating)) return wrong("version name major.minor");
    result.argument = words[at].text;
  } else {
    if (!words[at].is(TokenKind::string)) return wrong(kind == "ID" ? "ID name \"text\"" : "prefix \"text\"");
    const Literal<std::string> text = string_value(words[at].text);
    if (std::holds_alternative<LiteralFault>(text)) return wrong("prefix \"text\"");
    result.argument = std::get<std::string>(text);
  }
  if (!words[at + 1].is(TokenKind::end)) return wrong("with nothing after its argument");
  DefinitionPtr definition = made({}, token, {});
  definition->node = std::move(result);
  return definition;
}

}  // namespace corelane::idl
