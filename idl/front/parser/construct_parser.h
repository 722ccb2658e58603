// ConstructParser parses types with members: structs, unions, exceptions, enums, bitmasks and bitsets.
//
// Threads: one owner.
#pragma once

#include <string_view>
#include <vector>

#include "idl/ast/ast.h"
#include "idl/front/parser/annotation_parser.h"
#include "idl/front/parser/expression_parser.h"
#include "idl/front/parser/name_parser.h"
#include "idl/front/parser/parser_state.h"
#include "idl/front/parser/type_parser.h"

namespace corelane::idl {

class ConstructParser {
 public:
  ConstructParser(ParserState& state, NameParser& names, ExpressionParser& expressions, AnnotationParser& annotations,
                  TypeParser& types)
      : state_(state),
        cursor_(state.cursor),
        names_(names),
        expressions_(expressions),
        annotations_(annotations),
        types_(types) {}

  // These parse a definition after its keyword, without the ';'.
  DefinitionPtr structure(const Token& keyword);
  DefinitionPtr union_rule(const Token& keyword);
  DefinitionPtr exception(const Token& keyword);
  DefinitionPtr enumeration(const Token& keyword);
  DefinitionPtr bitmask(const Token& keyword);
  DefinitionPtr bitset(const Token& keyword);

 private:
  std::vector<ast::Member> members();
  ast::Member member();
  ast::Branch branch();
  std::vector<ast::Label> labels();
  std::vector<ast::Enumerator> enumerators(std::string_view what);
  ast::Bitfield bitfield();

  ParserState& state_;
  TokenCursor& cursor_;
  NameParser& names_;
  ExpressionParser& expressions_;
  AnnotationParser& annotations_;
  TypeParser& types_;
};

}  // namespace corelane::idl
