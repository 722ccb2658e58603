// NameParser parses names: those that are declared, and scoped names that are used.
//
// Threads: one owner.
#pragma once

#include <string_view>
#include <vector>

#include "idl/ast/ast.h"
#include "idl/front/parser/definition_parser.h"
#include "idl/front/parser/parser_state.h"

namespace corelane::idl {

// Returns a definition of that name without its contents. `keyword` is its first token.
DefinitionPtr make_definition(ast::Identifier name, const Token& keyword);

// `what` says in messages what is expected.
class NameParser {
 public:
  explicit NameParser(ParserState& state) : cursor_(state.cursor), diagnostics_(state.diagnostics) {}

  // Parses a name that is declared.
  ast::Identifier identifier(std::string_view what);
  // Parses a name that is declared and cannot be an array.
  ast::Identifier simple_declarator(std::string_view what);
  // Makes a definition whose name comes next. Without `what`, messages name the keyword.
  DefinitionPtr definition(const Token& keyword, std::string_view what = {});

  ast::ScopedName scoped_name(std::string_view what = "a name");
  std::vector<ast::ScopedName> scoped_names(std::string_view what);  // separated by commas

 private:
  ast::Identifier unescaped(const Token& token);

  TokenCursor& cursor_;
  Diagnostics& diagnostics_;
};

}  // namespace corelane::idl
