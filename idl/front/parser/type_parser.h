// TypeParser parses types and declarators.
//
// Threads: one owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "idl/ast/ast.h"
#include "idl/front/parser/annotation_parser.h"
#include "idl/front/parser/definition_parser.h"
#include "idl/front/parser/expression_parser.h"
#include "idl/front/parser/name_parser.h"
#include "idl/front/parser/parser_state.h"

namespace corelane::idl {

// Whether a struct, union or enum can be defined where a type's name is expected.
enum class Inline : std::uint8_t { refused, allowed };

class TypeParser {
 public:
  static constexpr std::size_t deepest_type = 64;

  TypeParser(ParserState& state, NameParser& names, ExpressionParser& expressions, AnnotationParser& annotations,
             DefinitionParser& definitions)
      : state_(state),
        cursor_(state.cursor),
        names_(names),
        expressions_(expressions),
        annotations_(annotations),
        definitions_(definitions) {}

  // `what` says in messages what is expected.
  ast::TypeSpec parse(std::string_view what, Inline constructs = Inline::refused);
  std::vector<ast::Declarator> declarators();
  ast::Declarator declarator();

 private:
  ast::TypeSpec type_inside(std::string_view what, Inline constructs);
  ast::TypeSpec keyword_type(std::string_view what, Inline constructs);
  ast::TypeSpec integer_type();
  ast::TypeSpec string_type();
  bool at_string_of_cpp() const;
  ast::TypeSpec string_of_cpp();
  ast::TypeSpecPtr element_type(std::string_view what);
  ast::TypeSpec sequence_type();
  ast::TypeSpec map_type();
  ast::TypeSpec fixed_type();
  ast::TypeSpec inline_construct();
  ast::TypeSpec misplaced_construct();

  ParserState& state_;
  TokenCursor& cursor_;
  NameParser& names_;
  ExpressionParser& expressions_;
  AnnotationParser& annotations_;
  DefinitionParser& definitions_;
};

}  // namespace corelane::idl
