// DeclarationParser parses modules, typedefs, native types, constants, imports, typeid and typeprefix.
//
// Threads: one owner.
#pragma once

#include <cstddef>

#include "idl/ast/ast.h"
#include "idl/front/parser/definition_parser.h"
#include "idl/front/parser/expression_parser.h"
#include "idl/front/parser/name_parser.h"
#include "idl/front/parser/parser_state.h"
#include "idl/front/parser/type_parser.h"

namespace corelane::idl {

class DeclarationParser {
 public:
  static constexpr std::size_t deepest_module = 64;

  DeclarationParser(ParserState& state, NameParser& names, ExpressionParser& expressions, TypeParser& types,
                    DefinitionParser& definitions)
      : state_(state),
        cursor_(state.cursor),
        names_(names),
        expressions_(expressions),
        types_(types),
        definitions_(definitions) {}

  // These parse a declaration after its keyword, without the ';'.
  DefinitionPtr module_rule(const Token& keyword);
  DefinitionPtr type_definition(const Token& keyword);
  DefinitionPtr native(const Token& keyword);
  DefinitionPtr constant(const Token& keyword);
  DefinitionPtr type_id(const Token& keyword);
  DefinitionPtr type_prefix(const Token& keyword);
  DefinitionPtr import(const Token& keyword);

 private:
  ParserState& state_;
  TokenCursor& cursor_;
  NameParser& names_;
  ExpressionParser& expressions_;
  TypeParser& types_;
  DefinitionParser& definitions_;
};

}  // namespace corelane::idl
