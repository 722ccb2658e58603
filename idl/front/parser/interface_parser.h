// InterfaceParser parses interfaces, valuetypes and value boxes.
//
// Threads: one owner.
#pragma once

#include "idl/ast/ast.h"
#include "idl/front/parser/definition_parser.h"
#include "idl/front/parser/name_parser.h"
#include "idl/front/parser/parser_state.h"
#include "idl/front/parser/type_parser.h"

namespace corelane::idl {

class InterfaceParser {
 public:
  InterfaceParser(ParserState& state, NameParser& names, TypeParser& types, DefinitionParser& definitions)
      : state_(state), cursor_(state.cursor), names_(names), types_(types), definitions_(definitions) {}

  // These parse a definition after its first keyword, without the ';'.
  DefinitionPtr plain_interface(const Token& keyword);
  DefinitionPtr local_interface(const Token& keyword);
  DefinitionPtr pseudo_interface(const Token& keyword);
  DefinitionPtr abstract_rule(const Token& keyword);
  DefinitionPtr plain_valuetype(const Token& keyword);
  DefinitionPtr custom_valuetype(const Token& keyword);

 private:
  DefinitionPtr interface_rule(const Token& keyword, ast::InterfaceKind kind);
  DefinitionPtr valuetype(const Token& keyword, ast::ValueKind kind);

  ParserState& state_;
  TokenCursor& cursor_;
  NameParser& names_;
  TypeParser& types_;
  DefinitionParser& definitions_;
};

}  // namespace corelane::idl
