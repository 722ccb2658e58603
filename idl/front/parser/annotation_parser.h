// AnnotationParser parses annotations that are applied. Parser parses their declarations.
//
// Threads: one owner.
#pragma once

#include "idl/ast/ast.h"
#include "idl/front/parser/expression_parser.h"
#include "idl/front/parser/name_parser.h"
#include "idl/front/parser/parser_state.h"

namespace corelane::idl {

class AnnotationParser {
 public:
  AnnotationParser(ParserState& state, NameParser& names, ExpressionParser& expressions)
      : cursor_(state.cursor), names_(names), expressions_(expressions) {}

  // Parses all annotations in front of a declaration. Stops before an "@annotation" declaration.
  ast::Annotations parse();

 private:
  ast::Annotation annotation();
  ast::AnnotationParameter annotation_parameter();

  TokenCursor& cursor_;
  NameParser& names_;
  ExpressionParser& expressions_;
};

}  // namespace corelane::idl
