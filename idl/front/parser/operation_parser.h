// OperationParser parses what interfaces and valuetypes contain: operations, attributes, state members and factories.
//
// Threads: one owner.
#pragma once

#include <vector>

#include "idl/ast/ast.h"
#include "idl/front/parser/annotation_parser.h"
#include "idl/front/parser/expression_parser.h"
#include "idl/front/parser/name_parser.h"
#include "idl/front/parser/parser_state.h"
#include "idl/front/parser/type_parser.h"

namespace corelane::idl {

class OperationParser {
 public:
  OperationParser(ParserState& state, NameParser& names, ExpressionParser& expressions, AnnotationParser& annotations,
                  TypeParser& types)
      : state_(state),
        cursor_(state.cursor),
        names_(names),
        expressions_(expressions),
        annotations_(annotations),
        types_(types) {}

  // These parse a declaration after its keyword, without the ';'.
  DefinitionPtr state_member(const Token& keyword);
  DefinitionPtr factory(const Token& keyword);

  // Parses what begins with none of the keywords of definitions, with the ';'.
  DefinitionPtr operation_or_attribute();

 private:
  DefinitionPtr operation();
  DefinitionPtr attribute();
  std::vector<ast::Parameter> parameters();
  ast::Parameter parameter();
  std::vector<ast::ScopedName> exception_names();
  std::vector<ast::ContextName> context_names();

  ParserState& state_;
  TokenCursor& cursor_;
  NameParser& names_;
  ExpressionParser& expressions_;
  AnnotationParser& annotations_;
  TypeParser& types_;
};

}  // namespace corelane::idl
