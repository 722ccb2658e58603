// Grammar holds the rules of the grammar by their topics. Each topic uses those above it.
//
// Threads: one owner, used once.
#pragma once

#include "idl/front/parser/annotation_parser.h"
#include "idl/front/parser/construct_parser.h"
#include "idl/front/parser/declaration_parser.h"
#include "idl/front/parser/definition_parser.h"
#include "idl/front/parser/expression_parser.h"
#include "idl/front/parser/interface_parser.h"
#include "idl/front/parser/name_parser.h"
#include "idl/front/parser/operation_parser.h"
#include "idl/front/parser/parser_state.h"
#include "idl/front/parser/type_parser.h"

namespace corelane::idl {

struct Grammar {
  // `definitions` parses definitions inside others.
  Grammar(ParserState& state, DefinitionParser& definitions)
      : names(state),
        expressions(state, names),
        annotations(state, names, expressions),
        types(state, names, expressions, annotations, definitions),
        constructs(state, names, expressions, annotations, types),
        declarations(state, names, expressions, types, definitions),
        interfaces(state, names, types, definitions),
        operations(state, names, expressions, annotations, types) {}
  Grammar(const Grammar&) = delete;
  Grammar& operator=(const Grammar&) = delete;

  NameParser names;
  ExpressionParser expressions;
  AnnotationParser annotations;
  TypeParser types;
  ConstructParser constructs;
  DeclarationParser declarations;
  InterfaceParser interfaces;
  OperationParser operations;
};

}  // namespace corelane::idl
