#include "idl/front/parser/parse.h"

#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "idl/ast/ast.h"
#include "idl/front/parser/definition_parser.h"
#include "idl/front/parser/foreign_definition.h"
#include "idl/front/parser/grammar.h"
#include "idl/front/parser/parser_state.h"
#include "idl/front/parser/pragma.h"
#include "idl/front/parser/unsupported.h"

namespace corelane::idl {
namespace {

// Parser is the recursive-descent parser behind parse(), with one function per grammar rule. A rule that finds
// something unexpected reports it and throws SyntaxError. The innermost list of declarations catches it. Parser itself
// has the rules for such lists; Grammar has the others.
//
// Threads: one owner, used once.
// Invariants: limits beside the rules bound the recursion; each turn of a list's loop consumes at least one token.
class Parser : public DefinitionParser {
 public:
  Parser(const std::vector<Token>& tokens, Diagnostics& diagnostics)
      : state_(tokens, diagnostics), grammar_(state_, *this) {}

  Parsed run();

 private:
  void definitions(ast::Definitions& into, BodyKind kind) override;
  DefinitionPtr construct(const Token& keyword) override;

  void add_pragmas(ast::Definitions& into);
  void one_definition(ast::Definitions& into, BodyKind kind);
  DefinitionPtr definition(BodyKind kind);
  void end_definition(const ast::Definition& definition);
  DefinitionPtr foreign_definition(std::string habit);
  DefinitionPtr annotation_declaration();
  void annotation_parameter_declaration(ast::AnnotationDeclaration& into);

  ParserState state_;
  Grammar grammar_;
};

// Parses a declaration after its keyword, up to its ';', by a rule of one topic.
template <auto Topic, auto Rule>
DefinitionPtr rule(Grammar& grammar, const Token& keyword) {
  return (grammar.*Topic.*Rule)(keyword);
}

struct Entry {
  std::string_view keyword;
  DefinitionPtr (*rule)(Grammar& grammar, const Token& keyword);
  unsigned bodies;
  bool is_word = false;  // no keyword: recognized only before "name {", "name :" and "interface"
};

// Definitions that begin with a word of their own; what begins otherwise is an operation or an attribute.
constexpr Entry entries[] = {
    {"module", rule<&Grammar::declarations, &DeclarationParser::module_rule>, in_module},
    {"interface", rule<&Grammar::interfaces, &InterfaceParser::plain_interface>, in_module},
    {"local", rule<&Grammar::interfaces, &InterfaceParser::local_interface>, in_module},
    {"abstract", rule<&Grammar::interfaces, &InterfaceParser::abstract_rule>, in_module},
    {"pseudo", rule<&Grammar::interfaces, &InterfaceParser::pseudo_interface>, in_module, true},
    {"valuetype", rule<&Grammar::interfaces, &InterfaceParser::plain_valuetype>, in_module},
    {"custom", rule<&Grammar::interfaces, &InterfaceParser::custom_valuetype>, in_module},
    {"import", rule<&Grammar::declarations, &DeclarationParser::import>, in_module},
    {"typeid", rule<&Grammar::declarations, &DeclarationParser::type_id>, in_module | in_interface | in_value},
    {"typeprefix", rule<&Grammar::declarations, &DeclarationParser::type_prefix>, in_module | in_interface | in_value},
    {"struct", rule<&Grammar::constructs, &ConstructParser::structure>, in_module | in_interface | in_value},
    {"union", rule<&Grammar::constructs, &ConstructParser::union_rule>, in_module | in_interface | in_value},
    {"exception", rule<&Grammar::constructs, &ConstructParser::exception>, in_module | in_interface | in_value},
    {"native", rule<&Grammar::declarations, &DeclarationParser::native>, in_module | in_interface | in_value},
    {"enum", rule<&Grammar::constructs, &ConstructParser::enumeration>,
     in_module | in_interface | in_value | in_annotation},
    {"typedef", rule<&Grammar::declarations, &DeclarationParser::type_definition>,
     in_module | in_interface | in_value | in_annotation},
    {"const", rule<&Grammar::declarations, &DeclarationParser::constant>,
     in_module | in_interface | in_value | in_annotation},
    {"bitmask", rule<&Grammar::constructs, &ConstructParser::bitmask>,
     in_module | in_interface | in_value | in_annotation, true},
    {"bitset", rule<&Grammar::constructs, &ConstructParser::bitset>, in_module | in_interface | in_value, true},
    {"public", rule<&Grammar::operations, &OperationParser::state_member>, in_value},
    {"private", rule<&Grammar::operations, &OperationParser::state_member>, in_value},
    {"factory", rule<&Grammar::operations, &OperationParser::factory>, in_value}};

// Returns the entry for the definition that begins here in such a body; null if none begins here.
const Entry* entry_at(const TokenCursor& cursor, BodyKind kind) {
  for (const Entry& entry : entries) {
    if ((entry.bodies & kind) == 0 || cursor.current().text != entry.keyword) continue;
    if (!entry.is_word) return cursor.at(TokenKind::keyword) ? &entry : nullptr;
    const bool named =
        cursor.ahead(1).is(TokenKind::identifier) && (cursor.ahead(2).is("{") || cursor.ahead(2).is(":"));
    const bool begins = named || cursor.ahead(1).is("interface");
    return cursor.at(TokenKind::identifier) && begins ? &entry : nullptr;
  }
  return nullptr;
}

}  // namespace

Parsed parse(const std::vector<Token>& tokens, Diagnostics& diagnostics) { return Parser(tokens, diagnostics).run(); }

Parsed Parser::run() {
  Parsed result;
  ast::Definitions& into = result.specification.definitions;
  TokenCursor& cursor = state_.cursor;
  // loop: definitions() returns at the end or at a '}', which is taken here
  for (;;) {
    definitions(into, in_module);
    if (cursor.at_end() || state_.diagnostics.has_enough()) break;
    state_.diagnostics.error(cursor.current().span, "this `}` closes nothing");
    state_.complete = false;
    cursor.advance();
    cursor.accept(";");
  }
  add_pragmas(into);
  result.complete = state_.complete;
  return result;
}

void Parser::definitions(ast::Definitions& into, BodyKind kind) {
  add_pragmas(into);
  while (!state_.cursor.at_end() && !state_.cursor.at("}") && !state_.diagnostics.has_enough()) {
    one_definition(into, kind);
    add_pragmas(into);
  }
}

void Parser::add_pragmas(ast::Definitions& into) {
  for (const Token& token : state_.cursor.take_pragmas())
    if (auto directive = parse_pragma(token, state_)) into.push_back(*std::move(directive));
}

void Parser::one_definition(ast::Definitions& into, BodyKind kind) {
  state_.recovering([&] {
    ast::Annotations notes = grammar_.annotations.parse();
    DefinitionPtr made = definition(kind);
    if (made == nullptr) return;
    made->annotations = std::move(notes);
    into.push_back(std::move(made));
  });
}

DefinitionPtr Parser::definition(BodyKind kind) {
  TokenCursor& cursor = state_.cursor;
  if (cursor.at(";")) {
    state_.diagnostics.warning(Warning::semicolon, cursor.current().span, "this `;` ends nothing");
    cursor.advance();
    return nullptr;
  }
  if (cursor.at("@")) return annotation_declaration();
  if (at_unsupported_definition(cursor)) {
    skip_unsupported_definition(state_);
    return nullptr;
  }
  if (const Entry* entry = entry_at(cursor, kind)) {
    const Token keyword = cursor.advance();
    DefinitionPtr result = entry->rule(grammar_, keyword);
    end_definition(*result);
    return result;
  }
  if (std::string habit = foreign_definition_at(cursor, kind); !habit.empty())
    return foreign_definition(std::move(habit));
  if (kind != in_module) return grammar_.operations.operation_or_attribute();
  cursor.fail_expected("a definition");
}

// Reports a definition of another language, and skips it. A namespace is read as a module, so that faults in it are
// reported, too.
DefinitionPtr Parser::foreign_definition(std::string habit) {
  TokenCursor& cursor = state_.cursor;
  if (cursor.current().text != "namespace") cursor.fail(cursor.current().span, std::move(habit));
  state_.diagnostics.error(cursor.current().span, std::move(habit));
  const Token keyword = cursor.advance();
  DefinitionPtr result = grammar_.declarations.module_rule(keyword);
  cursor.accept(";");
  return result;
}

// Takes the ';'. The OMG's own orb.idl has a typeprefix without it.
void Parser::end_definition(const ast::Definition& definition) {
  TokenCursor& cursor = state_.cursor;
  if (!std::holds_alternative<ast::IdDirective>(definition.node) || cursor.at(";")) {
    cursor.expect(";");
  } else {
    state_.diagnostics.warning(Warning::semicolon, cursor.previous().span,
                               "expected `;` after " + describe(cursor.previous()));
  }
}

DefinitionPtr Parser::construct(const Token& keyword) {
  if (keyword.is("struct")) return grammar_.constructs.structure(keyword);
  if (keyword.is("union")) return grammar_.constructs.union_rule(keyword);
  return grammar_.constructs.enumeration(keyword);
}

// @annotation name { type parameter [default value]; enum E { a }; ... };
DefinitionPtr Parser::annotation_declaration() {
  TokenCursor& cursor = state_.cursor;
  const Token keyword = cursor.expect("@");
  cursor.advance();  // "annotation", seen by AnnotationParser::parse()
  DefinitionPtr result = make_definition(grammar_.names.identifier("an annotation's name"), keyword);
  ast::AnnotationDeclaration body;
  cursor.expect("{");
  while (!cursor.at_end() && !cursor.at("}")) {
    if (entry_at(cursor, in_annotation) != nullptr) {
      one_definition(body.body, in_annotation);
    } else {
      state_.recovering([&] { annotation_parameter_declaration(body); });
    }
  }
  cursor.expect("}");
  cursor.expect(";");
  result->node = std::move(body);
  return result;
}

void Parser::annotation_parameter_declaration(ast::AnnotationDeclaration& into) {
  ast::AnnotationParameterDeclaration parameter;
  parameter.type = grammar_.types.parse("a parameter's type");
  parameter.name = grammar_.names.identifier("a parameter's name");
  if (state_.cursor.accept("default")) parameter.default_value = grammar_.expressions.parse();
  state_.cursor.expect(";");
  into.parameters.push_back(std::move(parameter));
}

}  // namespace corelane::idl
