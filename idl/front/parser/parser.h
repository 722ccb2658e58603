// Parser is the recursive-descent parser behind parse(), with one function per grammar rule. A rule that finds
// something unexpected reports it and throws SyntaxError. The innermost list of declarations catches it. Parser itself
// has the rules for such lists; Grammar has the others.
//
// Threads: one owner, used once.
// Invariants: limits beside the rules bound the recursion; each turn of a list's loop consumes at least one token.
#pragma once

#include <vector>

#include "idl/ast/ast.h"
#include "idl/front/parser/definition_parser.h"
#include "idl/front/parser/grammar.h"
#include "idl/front/parser/parse.h"
#include "idl/front/parser/parser_state.h"

namespace corelane::idl {

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
  DefinitionPtr annotation_declaration();
  void annotation_parameter_declaration(ast::AnnotationDeclaration& into);

  ParserState state_;
  Grammar grammar_;
};

}  // namespace corelane::idl
