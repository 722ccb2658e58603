#include "idl/front/parser/name_parser.h"

#include <memory>
#include <string>
#include <utility>

#include "idl/ast/keywords.h"

namespace corelane::idl {

DefinitionPtr make_definition(ast::Identifier name, const Token& keyword) {
  auto definition = std::make_unique<ast::Definition>();
  definition->name = std::move(name);
  definition->keyword = keyword.span;
  return definition;
}

DefinitionPtr NameParser::definition(const Token& keyword, std::string_view what) {
  return make_definition(identifier(what.empty() ? "a name after " + quoted(keyword.text) : std::string(what)),
                         keyword);
}

ast::Identifier NameParser::simple_declarator(std::string_view what) {
  ast::Identifier name = identifier(what);
  if (cursor_.at("[")) cursor_.fail(name.span, "an array needs a name of its own here: declare it with `typedef`");
  return name;
}

ast::Identifier NameParser::identifier(std::string_view what) {
  const Token token = cursor_.expect_identifier(what);
  if (const std::string_view keyword = keyword_like(token.text); !keyword.empty()) {
    std::string message = quoted(token.text) + " differs from the keyword " + quoted(keyword) +
                          " only in case (write " + quoted("_" + std::string(token.text)) + ")";
    if (is_late_keyword(keyword))
      diagnostics_.warning(Warning::keyword, token.span, std::move(message));
    else
      diagnostics_.error(token.span, std::move(message));
  }
  return unescaped(token);
}

ast::Identifier NameParser::unescaped(const Token& token) {
  std::string text(token.text);
  if (text.starts_with('_')) text.erase(0, 1);
  if (text.empty() || text.starts_with('_')) {
    cursor_.fail(token.span, quoted(token.text) + " is no name: an underscore escapes the word after it");
  }
  return {std::move(text), token.span};
}

ast::ScopedName NameParser::scoped_name(std::string_view what) {
  ast::ScopedName result;
  const Span first = cursor_.current().span;
  result.absolute = cursor_.accept("::");
  do result.parts.push_back(unescaped(cursor_.expect_identifier(result.parts.empty() ? what : "a name after `::`")));
  while (cursor_.accept("::"));
  result.span = join(first, cursor_.previous().span);
  return result;
}

std::vector<ast::ScopedName> NameParser::scoped_names(std::string_view what) {
  std::vector<ast::ScopedName> result;
  do result.push_back(scoped_name(what));
  while (cursor_.accept(","));
  return result;
}

}  // namespace corelane::idl
